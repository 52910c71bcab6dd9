import { startRealm, type Realm } from '@directory-gateway/realm';
import type {
  Principal,
  PrincipalQuery,
} from '@directory-gateway/directory-core';
import {
  addUser,
  conformanceEntries,
  dumpEntries,
  eventually,
  NaiveDirectory,
  spelled,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';

jest.setTimeout(180_000);

const CHANGES = [
  `dn: ${userDn('alice')}
changetype: modify
replace: krbPrincipalExpiration
krbPrincipalExpiration: 20300101000000Z`,
  `dn: ${userDn('bob')}
changetype: modify
replace: krbPrincipalName
krbPrincipalName: bob@EXAMPLE.TEST
krbPrincipalName: robert@EXAMPLE.TEST`,
  `dn: ${userDn('dave')}
changetype: modify
replace: nsAccountLock
nsAccountLock: TRUE`,
  `dn: ${userDn('twin2')}
changetype: modify
replace: krbPrincipalName
krbPrincipalName: twin2@EXAMPLE.TEST`,
  `dn: ${userDn('erin')}
changetype: delete`,
].join('\n\n');

describe.each(['fas', 'freeipa'] as const)(
  'ReplicatedAccounts with the schema %s',
  schema => {
    let realm: Realm | undefined;
    let replica: OpenReplica | undefined;
    let model: NaiveDirectory;

    beforeAll(async () => {
      realm = await startRealm({ schema });
      await realm.modify(
        conformanceEntries(schema) +
          addUser('unkerberized', {
            objectClass: [
              ...['inetOrgPerson', 'posixAccount'],
              ...(schema === 'fas' ? ['fasUser'] : []),
            ],
            krbPrincipalName: [],
            krbCanonicalName: [],
          }),
      );
      replica = await openReplica({ realm, schema });
    });
    afterAll(async () => {
      replica?.close();
      await realm?.stop();
    });

    /** Reduces a served user to the values that the replica has. */
    const replicated = (principal: Principal | undefined) =>
      principal?.served
        ? [
            {
              ...principal,
              dn: principal.dn.toLowerCase(),
              canonicalName: undefined,
              emails: [],
            },
          ]
        : [];

    async function compareAll(): Promise<void> {
      model = new NaiveDirectory(await dumpEntries(realm!), schema);
      const names = model.principalNames();
      const queries: readonly PrincipalQuery[] = [
        ...[...names, ...names.map(name => name.toUpperCase())].map(
          principal => ({ principal }),
        ),
        ...spelled([
          ...model.users.map(user => user.text('uid')!),
          ...['outsider', 'admin', 'erin'],
        ]).map(username => ({ username })),
      ];
      for (const query of queries) {
        const found = replica!.accounts.find(query);
        const expected = replicated(await model.principals.find(query));
        // An account lookup returns no user when several match.
        const result = found.length > 1 ? [] : found;
        expect([query, result]).toEqual([query, expected]);
      }
    }

    it('finds the same users as an account lookup', async () => {
      await compareAll();
      const find = (principal: string) => replica!.accounts.find({ principal });
      expect(find('alice.liddell@EXAMPLE.TEST')).toMatchObject([
        { username: 'alice' },
      ]);
      expect(find('two@OTHER.TEST')).toHaveLength(2);
      expect(find('eve@EXAMPLE.TEST')).toMatchObject([
        { expires: new Date('2020-01-01T00:00:00Z') },
      ]);
    });

    it('follows changes to names, locks and expiry, and deletions', async () => {
      await realm!.modify(CHANGES);
      await eventually(compareAll);
      expect(
        replica!.accounts.find({ principal: 'two@OTHER.TEST' }),
      ).toMatchObject([{ username: 'twin' }]);
    });
  },
);
