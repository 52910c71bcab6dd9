import { startRealm, type Realm } from '@directory-gateway/realm';
import assert from 'node:assert/strict';
import {
  addUser,
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { GatewayClient } from '../__testUtils__/gateway/GatewayClient';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(300_000);

const READ = 'directory.read';
const HISTORY = 'directory.history.read';

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    directory: {
      access: [
        { principals: ['*'], portalUsers: ['*'], operations: [READ] },
        { principals: ['dave'], operations: [HISTORY] },
        { principals: ['erin'], operations: [HISTORY] },
      ],
      changes: { history: true },
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

interface Changes {
  readonly result: readonly Record<string, unknown>[];
  readonly cursor: string;
}

/** Requests changes until one of a kind is returned. */
async function follow(cursor: string, kind: string) {
  const kinds: unknown[] = [];
  let next = cursor;
  await eventually(async () => {
    const { json, status } = await client.request(
      `/v1/changes/?cursor=${next}`,
      { as: 'dave' },
    );
    expect(status).toBe(200);
    const { result, cursor: after } = json as Changes;
    kinds.push(...result.map(change => change.kind));
    next = after;
    expect(kinds).toContain(kind);
  });
  return kinds;
}

/** Waits until changes are logged, shortly after the start. */
async function presentCursor(): Promise<string> {
  let cursor: string;
  await eventually(async () => {
    const { json, status } = await client.request('/v1/changes/', {
      as: 'dave',
    });
    expect(status).toBe(200);
    ({ cursor } = json as Changes);
  });
  return cursor!;
}

describe('GET /changes/', () => {
  it('returns changes in the directory', async () => {
    const cursor = await presentCursor();
    await realm.modify(
      addUser('newcomer', {
        objectClass: [
          'inetOrgPerson',
          'posixAccount',
          'krbPrincipalAux',
          'ipaObject',
          'fasUser',
        ],
        ipaUniqueID: 'newcomer',
      }),
    );
    const modify = (change: string) =>
      realm.modify(`dn: ${userDn('newcomer')}\nchangetype: ${change}\n`);
    await follow(cursor, 'user_created');
    await modify('modify\nreplace: nsAccountLock\nnsAccountLock: TRUE');
    await follow(cursor, 'user_locked');
    await modify('modrdn\nnewrdn: uid=renamed\ndeleteoldrdn: 1');
    await follow(cursor, 'user_renamed');
    await realm.modify(`dn: ${userDn('renamed')}\nchangetype: delete\n`);
    expect(await follow(cursor, 'user_deleted')).toEqual([
      'user_created',
      'user_locked',
      'user_renamed',
      'user_deleted',
    ]);
  });

  it('rejects invalid parameters and unknown cursors', async () => {
    const invalid = await client.request('/v1/changes/?page_size=0', {
      as: 'dave',
    });
    expect(invalid.status).toBe(400);
    expect(invalid.json).toMatchObject({
      errors: {
        page_size: 'Page size. Must be a whole number from 1 to 1000.',
      },
    });
    const cursor = await client.request('/v1/changes/?cursor=x', {
      as: 'dave',
    });
    expect(cursor.status).toBe(410);
    expect((await client.request('/v1/changes/')).status).toBe(401);
  });
});

describe('histories', () => {
  const GROUP = 'infra';
  const MEMBER = 'history-member';
  const groupDn = `cn=${GROUP},cn=groups,cn=accounts,dc=example,dc=test`;

  /** Requests a history; the latest change is first. */
  async function historyOf(entry: string, as: string) {
    const { status, json } = await client.request(
      `/v1/${entry}/history/?page_size=1000`,
      {
        as,
      },
    );
    const { result } = json as Partial<Changes>;
    return { status, result };
  }

  /** Requests a group's history as dave until `latest` is its latest change. */
  const groupHistory = (latest: object) =>
    eventually(async () => {
      const { result } = await historyOf(`groups/${GROUP}`, 'dave');
      expect(result?.[0]).toMatchObject(latest);
    });

  const changeMember = (operation: 'add' | 'delete') =>
    realm.modify(
      `dn: ${groupDn}\nchangetype: modify\n${operation}: member\nmember: ${userDn(
        MEMBER,
      )}\n`,
    );

  beforeAll(async () => {
    await realm.modify(
      addUser(MEMBER, {
        objectClass: [
          'inetOrgPerson',
          'posixAccount',
          'krbPrincipalAux',
          'fasUser',
        ],
      }),
    );
    await eventually(async () => {
      const { result } = await historyOf(`users/${MEMBER}`, 'dave');
      assert.equal(result?.[0]?.kind, 'user_created');
    });
  });

  it('set the joined time of memberships for callers who may read the history', async () => {
    await changeMember('add');
    await groupHistory({ kind: 'member_added', username: MEMBER });
    const { result } = await historyOf(`groups/${GROUP}`, 'dave');
    const joined = async (as: string, query: string) => {
      const { json } = await client.request(
        `/v1/groups/${GROUP}/memberships/?${query}`,
        { as, headers: { 'X-Fields': 'username,joined' } },
      );
      return (json as { result: object[] }).result;
    };
    const member = { username: MEMBER, joined: result![0].time };
    const sorted = await joined('dave', 'sort=joined&page_size=1');
    expect(sorted).toEqual([member]);
    expect(await joined('dave', '')).toContainEqual(member);
    expect(await joined('dave', `q=${MEMBER}`)).toEqual([member]);
    expect(await joined('bob', `q=${MEMBER}`)).toEqual([
      { username: MEMBER, joined: null },
    ]);
    await changeMember('delete');
    await groupHistory({ kind: 'member_removed', username: MEMBER });
  });

  it('contain memberships through nested groups, but no locks', async () => {
    const kinds = async () => {
      const { result } = await historyOf(`users/${MEMBER}`, 'erin');
      return result?.map(({ kind, groupname }) => [kind, groupname]);
    };
    const before = await kinds();
    const nested = `dn: cn=nested,cn=groups,cn=accounts,${realm.baseDn}`;
    await realm.modify(
      `dn: ${userDn(
        MEMBER,
      )}\nchangetype: modify\nreplace: nsAccountLock\nnsAccountLock: TRUE\n`,
    );
    await realm.modify(
      `${nested}\nchangetype: add\nobjectClass: ipaUserGroup\nobjectClass: nestedGroup\ncn: nested\nmember: ${userDn(
        MEMBER,
      )}\n`,
    );
    const group = (operation: 'add' | 'delete') =>
      realm.modify(
        `dn: ${groupDn}\nchangetype: modify\n${operation}: member\nmember: ${nested.slice(
          4,
        )}\n`,
      );
    await group('add');
    await eventually(async () =>
      expect(await kinds()).toEqual([['member_added', GROUP], ...before!]),
    );
    await group('delete');
    await eventually(async () =>
      expect((await kinds())?.[0]).toEqual(['member_removed', GROUP]),
    );
  });

  it('are readable by the user, sponsors of the group and callers with the operation', async () => {
    const sponsors = (
      await client.request(`/v1/groups/${GROUP}/sponsors/`, { as: 'dave' })
    ).json as { result: { username: string }[] };
    const sponsor = sponsors.result[0].username;
    const statusOf = async (entry: string, as: string) =>
      (await historyOf(entry, as)).status;
    expect(await statusOf(`groups/${GROUP}`, sponsor)).toBe(200);
    expect(await statusOf(`groups/${GROUP}`, 'bob')).toBe(403);
    expect(await statusOf('users/BOB', 'bob')).toBe(200);
    expect(await statusOf('users/alice', 'bob')).toBe(403);
    expect(await statusOf('users/alice', 'erin')).toBe(200);
    expect(await statusOf('users/nobody', 'bob')).toBe(404);
    expect(await statusOf('groups/nope', 'bob')).toBe(404);
  });

  it('are returned in pages', async () => {
    const { result } = await historyOf(`users/${MEMBER}`, 'dave');
    const { json } = await client.request(
      `/v1/users/${MEMBER}/history/?page_size=2&page_number=2`,
      { as: 'dave' },
    );
    expect(json).toEqual({
      result: result!.slice(2, 4),
      page: 2,
      page_size: 2,
      total_results: result!.length,
    });
  });
});
