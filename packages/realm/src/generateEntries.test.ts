import { generateEntries } from './generateEntries';

const entries = generateEntries({ users: 3000, schema: 'fas' });
const users = entries.filter(entry => entry.includes('objectClass: fasuser\n'));

/** Returns the values of an attribute in an LDIF record. */
const valuesOf = (entry: string, attribute: string) =>
  [...entry.matchAll(new RegExp(`^${attribute}:(:?) (.*)$`, 'gm'))].map(
    ([, base64, value]) =>
      base64 ? Buffer.from(value, 'base64').toString() : value,
  );

const share = (test: (entry: string) => boolean) =>
  users.filter(test).length / users.length;

describe('generateEntries', () => {
  it('generates the requested number of users, with unique names and ids', () => {
    expect(users).toHaveLength(3000);
    for (const attribute of ['uid', 'ipaUniqueID', 'uidNumber']) {
      const values = entries.flatMap(entry => valuesOf(entry, attribute));
      const lower = values.map(value => value.toLowerCase());
      expect(new Set(lower).size).toBe(values.length);
    }
  });

  it('generates optional attributes for some users only', () => {
    const attributes = ['displayName', 'fasTimezone', 'ipaSshPubKey', 'mail'];
    const shares = [...attributes, 'fasPronoun', 'fasGPGKeyId'].map(attribute =>
      share(
        entry =>
          valuesOf(entry, attribute).length > (attribute === 'mail' ? 1 : 0),
      ),
    );
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(Math.max(...shares)).toBeLessThan(1);
  });

  it('generates realistic shares of private and locked accounts', () => {
    const hasValue = (attribute: string) => (entry: string) =>
      valuesOf(entry, attribute)[0] === 'TRUE';
    for (const attribute of ['fasIsPrivate', 'nsAccountLock']) {
      expect(share(hasValue(attribute))).toBeGreaterThan(0.005);
      expect(share(hasValue(attribute))).toBeLessThan(0.04);
    }
  });

  it.each([
    ['a name with non-ASCII characters', 'displayName', /[^ -~]/],
    ['a name with special characters of LDAP', 'sn', /[*()\\,+"<>;#=]/],
    ['a user name with a capital letter', 'uid', /[A-Z]/],
    ['a user name that starts with an underscore', 'uid', /^_/],
    ['a user name that ends in a dollar sign', 'uid', /\$$/],
    ['a trailing space', 'fasPronoun', / $/],
    ['a leading space', 'fasPronoun', /^ /],
  ])('generates %s', (_what, attribute, pattern) => {
    const values = users.flatMap(entry => valuesOf(entry, attribute));
    expect(values.some(value => pattern.test(value))).toBe(true);
  });

  it('nests groups, also through one outside the Fedora Account System', () => {
    const find = (uid: string) =>
      users.find(entry => entry.startsWith(`dn: uid=${uid},`))!;
    const memberships = valuesOf(find('mallory'), 'memberOf').map(
      dn => dn.split(',')[0],
    );
    expect(memberships).toEqual(
      expect.arrayContaining([
        ...['cn=sysadmin_main', 'cn=infra-internal', 'cn=infra'],
      ]),
    );
    expect(valuesOf(find('minimal'), 'memberOf').join()).toContain('cn=FPCA');
    const fpca = entries.find(entry => entry.startsWith('dn: cn=FPCA,'))!;
    expect(fpca).not.toContain('memberUser: uid=minimal,');
  });

  it('generates no value of freeipa-fas for plain FreeIPA', () => {
    const plain = generateEntries({ users: 200, schema: 'freeipa' }).join('');
    expect(plain).not.toMatch(/^(fas|objectClass: fas)|cn=fasagreements/im);
    expect(plain).toContain('\ndn: uid=bob,');
  });
});
