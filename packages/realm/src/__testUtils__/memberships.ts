import { normalizeDn } from '../ldif/LdifEntry';
import type { Realm } from '../Realm';
import { ldapsearch } from '../replication/ldapsearch';

/** Returns `memberOf` of all entries, with normalized DNs. */
export async function memberships(
  realm: Realm,
): Promise<Record<string, string[]>> {
  const entries = await ldapsearch(realm, {
    as: { dn: realm.rootDn, passwordFile: realm.rootPasswordFile },
    attributes: ['memberOf'],
  });
  return Object.fromEntries(
    entries.map(entry => [
      normalizeDn(entry.dn),
      entry.texts('memberOf').map(normalizeDn).sort(),
    ]),
  );
}

/** Runs the repair task of the memberOf plugin. */
export async function repairMemberships(realm: Realm): Promise<void> {
  const dn = 'cn=repair,cn=memberOf task,cn=tasks,cn=config';
  await realm.modify(
    `dn: ${dn}
changetype: add
objectClass: top
objectClass: extensibleObject
cn: repair
basedn: ${realm.baseDn}
filter: (objectClass=*)
`,
  );
  for (;;) {
    const [task] = await ldapsearch(realm, {
      as: { dn: realm.rootDn, passwordFile: realm.rootPasswordFile },
      base: dn,
      attributes: ['nsTaskExitCode'],
    });
    const [code] = task.texts('nsTaskExitCode');
    if (code !== undefined) {
      expect(code).toBe('0');
      return;
    }
  }
}
