import { join } from 'node:path';
import { PACKAGE_FOLDER } from './RealmOptions';
import { startRealm } from './startRealm';
import { ldapsearch } from './replication/ldapsearch';
import { memberships, repairMemberships } from './__testUtils__/memberships';

jest.setTimeout(600_000);

const TREE = join(PACKAGE_FOLDER, 'src/__fixtures__/tree.ldif');
const PEOPLE = 'cn=users,cn=accounts,dc=example,dc=test';
const GROUPS = 'cn=groups,cn=accounts,dc=example,dc=test';
const PLEDGE = 'cn=pledge,cn=fasagreements,dc=example,dc=test';

describe('startRealm with an LDIF file', () => {
  it('serves the users and keys of the file with its own access control', async () => {
    const realm = await startRealm({ ldif: TREE });
    try {
      for (const ticketOf of ['zoe', 'zoe.alias', 'com,ma', '-sp "ace']) {
        const [self] = await ldapsearch(realm, {
          as: { ticketOf },
          filter: `(krbPrincipalName=${ticketOf}@EXAMPLE.TEST)`,
          attributes: ['cn'],
        });
        expect(self.texts('cn')).toHaveLength(1);
      }
      await realm.ticket('bot/x.example.test');
      await expect(realm.ticket('zoe@OTHER.TEST')).rejects.toThrow(
        'OTHER.TEST',
      );
      expect(
        await ldapsearch(realm, {
          as: 'anonymous',
          filter: '(krbPrincipalName=*)',
        }),
      ).toEqual([]);

      const { [`uid=zoe,${PEOPLE}`]: zoe, ...others } =
        await memberships(realm);
      expect(zoe).toEqual([`cn=inner,${GROUPS}`, `cn=outer,${GROUPS}`, PLEDGE]);
      expect(others[`cn=inner,${GROUPS}`]).toEqual([
        `cn=outer,${GROUPS}`,
        PLEDGE,
      ]);
      await repairMemberships(realm);
      expect(await memberships(realm)).toEqual({
        [`uid=zoe,${PEOPLE}`]: zoe,
        ...others,
      });
    } finally {
      await realm.stop();
    }
  });

  it('throws when the file has no usable entries', async () => {
    const ldif = join(PACKAGE_FOLDER, 'schema/60freeipa.ldif');
    await expect(startRealm({ ldif })).rejects.toThrow(/has no entries below/);
    await expect(startRealm({ ldif: '/nowhere.ldif' })).rejects.toThrow(
      /ENOENT/,
    );
  });
});

describe('startRealm with the schema freeipa', () => {
  it('serves users, groups and tickets but no FAS attributes', async () => {
    const realm = await startRealm({ schema: 'freeipa' });
    try {
      const as = { dn: realm.bindDn, passwordFile: realm.bindPasswordFile };
      const people = await ldapsearch(realm, {
        as: { ticketOf: 'alice' },
        base: PEOPLE,
        filter: '(objectClass=posixAccount)',
        attributes: ['uid', 'nsAccountLock', 'createTimestamp'],
      });
      expect(people).toHaveLength(202);
      const created = people.find(person => person.texts('uid')[0] === 'alice');
      expect(created?.texts('createTimestamp')).toEqual(['20070102030405Z']);
      const [schema] = await ldapsearch(realm, {
        as,
        base: 'cn=schema',
        options: ['-s', 'base'],
        attributes: ['attributeTypes', 'objectClasses'],
      });
      const definitions = [
        ...schema.texts('attributeTypes'),
        ...schema.texts('objectClasses'),
      ].join('\n');
      expect(definitions).toContain("NAME 'memberManager'");
      expect(definitions).not.toContain("NAME 'fas");
    } finally {
      await realm.stop();
    }
  });
});
