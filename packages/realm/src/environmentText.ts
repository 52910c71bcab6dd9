import type { Realm } from './Realm';

/** A realm's environment as a shell reads it, with what to try first. */
export function environmentText(realm: Realm): string {
  const { realm: name, dir, env } = realm;
  const exports = Object.entries(env).map(
    ([key, value]) => `export ${key}='${value.replaceAll("'", `'\\''`)}'`,
  );
  return `# Kerberos realm ${name} and its directory, in ${dir}
# kinit -k -t "$KEYTAB" alice     # or bob (private), carol (locked), admin,
#                                 # bot/builder.example.test, host/build1.example.test
# ldapsearch -N -Y GSSAPI -H "\${REALM_LDAP_URL/127.0.0.1/localhost}" -b "$REALM_BASE_DN" uid=alice
${exports.join('\n')}
`;
}
