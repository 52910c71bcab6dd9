import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addGroup,
  addUser,
  eventually,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import {
  openLdapPrincipals,
  type OpenLdapPrincipals,
} from './__testUtils__/openLdap';

jest.setTimeout(180_000);

const USERS = 'cn=users,cn=accounts,dc=example,dc=test';
const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';

const { signal } = new AbortController();

let realm: Realm;
let ldap: OpenLdapPrincipals;
let witness: string;

beforeAll(async () => {
  realm = await startRealm();
  ldap = openLdapPrincipals({ realm });
  witness = await idOf('alice');
});
afterAll(async () => {
  ldap?.close();
  await realm?.stop();
});

async function idOf(username: string): Promise<string> {
  const found = await ldap.principals.find({ username }, { signal });
  return found!.stableId!;
}

/** Adds a user and returns the query for that account. */
async function added(username: string) {
  await realm.modify(
    person(username) + addGroup(`of-${username}`, [userDn(username)]),
  );
  return { stableId: await idOf(username), username, witnesses: [witness] };
}

function person(username: string, id = username): string {
  return addUser(username, {
    objectClass: [
      ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux'],
      ...['ipaObject', 'fasUser'],
    ],
    ipaUniqueID: `id-of-${id}`,
  });
}

const find = (query: Awaited<ReturnType<typeof added>>) =>
  ldap.principals.findSubject(query, { signal });

/** Denies the service account a right while a function runs. */
async function whileDenied(
  aci: string,
  work: () => Promise<void>,
): Promise<void> {
  const value = `${aci}(version 3.0; acl "test"; deny (all) userdn = "ldap:///${realm.bindDn}";)`;
  const change = (kind: string) =>
    realm.modify(
      `dn: ${USERS}\nchangetype: modify\n${kind}: aci\naci: ${value}\n`,
    );
  await change('add');
  try {
    await work();
  } finally {
    await change('delete');
  }
}

describe('LdapPrincipalLookup.findSubject', () => {
  it('finds a user before and after a rename', async () => {
    const query = await added('first');
    expect(query.stableId).toBe('ipaUniqueID=id-of-first');
    expect(await find(query)).toMatchObject({
      kind: 'found',
      principal: { username: 'first', locked: false, server: realm.ldapsUrl },
    });
    await realm.modify(renamed(userDn('first'), 'uid=second'));
    expect(await find(query)).toMatchObject({
      kind: 'found',
      principal: { username: 'second' },
    });
    // Another user gets the old name.
    await realm.modify(person('first', 'another'));
    expect(await find(query)).toMatchObject({
      kind: 'found',
      principal: { username: 'second' },
    });
  });

  it('reports a deleted user, even if the name is reused', async () => {
    const query = await added('leaver');
    await realm.modify(`dn: ${userDn('leaver')}\nchangetype: delete\n`);
    const deleted = { kind: 'deleted', server: realm.ldapsUrl };
    expect(await find(query)).toEqual(deleted);
    await realm.modify(person('leaver', 'successor'));
    expect(await find(query)).toEqual(deleted);
  });

  it('reports a preserved user as deleted', async () => {
    const query = await added('preserved');
    await realm.modify(
      `dn: ${userDn(
        'preserved',
      )}\nchangetype: modrdn\nnewrdn: uid=preserved\ndeleteoldrdn: 0\nnewsuperior: ${DELETED_USERS}\n`,
    );
    expect(await find(query)).toMatchObject({ kind: 'deleted' });
  });

  it('does not report a deletion without a witness', async () => {
    const query = await added('alone');
    await realm.modify(`dn: ${userDn('alone')}\nchangetype: delete\n`);
    for (const witnesses of [[], ['ipaUniqueID=none']]) {
      expect(await find({ ...query, witnesses })).toEqual({ kind: 'unknown' });
    }
  });

  it('does not report a deletion when the ID of a user with this name is unreadable', async () => {
    const query = await added('unclear');
    await realm.modify(
      `dn: ${userDn('unclear')}\nchangetype: delete\n\n${addUser('unclear')}`,
    );
    expect(await find(query)).toEqual({ kind: 'unknown' });
  });

  it.each([
    ['the entry', '(targetattr = "*")(targetfilter = "(uid=hidden*)")'],
    ['its ID', '(targetattr = "ipaUniqueID")(targetfilter = "(uid=hidden*)")'],
    ['all IDs', '(targetattr = "ipaUniqueID")'],
    ['all entries', '(targetattr = "*")'],
  ])(
    'does not report a deletion without the right to read %s',
    async (what, aci) => {
      const query = await added(`hidden${what.replace(/\W/g, '')}`);
      await whileDenied(aci, async () => {
        // 389 Directory Server applies an ACI shortly after its response.
        let found: { readonly kind: string } | undefined;
        await eventually(async () => {
          found = await find(query).catch(() => ({ kind: 'unknown' }));
          expect(found.kind).not.toBe('found');
        });
        expect(found).toEqual({ kind: 'unknown' });
      });
      expect(await find(query)).toMatchObject({ kind: 'found' });
    },
  );
});

it('does not take a user whose groups are unreadable for a user without groups', async () => {
  const findUser = (username: string) =>
    ldap.principals.find({ username }, { signal });
  const hidden = '(targetattr = "memberOf")(targetfilter = "(uid=erin)")';
  await whileDenied(hidden, async () => {
    await eventually(async () =>
      expect(findUser('erin')).rejects.toMatchObject({ reason: 'accessCheck' }),
    );
    expect(await findUser('alice')).toMatchObject({ username: 'alice' });
  });
  expect(await findUser('erin')).toMatchObject({ username: 'erin' });
});
