import {
  type CallerContext,
  type Directory,
  DirectoryUnavailableError,
  emptyUser,
  PrincipalSet,
  PrivateDirectory,
  type VerifiedPrincipal,
} from '@directory-gateway/directory-core';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { type ChangeKind, ChangeLog, type Position } from './ChangeLog';
import {
  ChangeLogUnavailableError,
  type ChangePage,
  ChangeReader,
} from './ChangeReader';
import { comparePositions } from '../__testUtils__/changes/comparePositions';

jest.setTimeout(60_000);

const DAY_MS = 24 * 60 * 60_000;

const HERE: Position = { server: 'here', value: '5' };

const database = withDatabase();

let isAvailable = true;
let position: Position | undefined;

beforeEach(() => {
  isAvailable = true;
  position = HERE;
});

const directory = new PrivateDirectory(
  {
    async getUser({ username }, { visible }) {
      // The replica evaluates the predicate.
      const isShown = !visible || username === 'alice';
      return isShown ? { ...emptyUser(), username } : undefined;
    },
    async countMembers() {
      if (!isAvailable) {
        throw new DirectoryUnavailableError('stale', { reason: 'stale' });
      }
      return new Map();
    },
  } as Partial<Directory> as Directory,
  {
    hidden: new Set(),
    trustedReaders: new PrincipalSet({}),
    ownOnly: new Set(),
  },
);

const context: CallerContext = {
  caller: {
    kind: 'kerberos',
    principal: 'dave@EXAMPLE.TEST',
    credential: 'ticket',
    account: { username: 'dave' } as VerifiedPrincipal,
  },
  signal: new AbortController().signal,
};

/** Sees only alice. */
const restricted: CallerContext = {
  ...context,
  visible: { users: { kind: 'isUser', username: 'alice' } },
};

async function openLog() {
  return new ChangeLog({
    database: await openDatabase(database),
    definition: 'test',
  });
}

/** Appends events of users, as another process does. */
async function append(
  names: readonly string[],
  options: { kind?: ChangeKind; at?: Position; group?: string } = {},
) {
  const { kind = 'user_changed', at = HERE, group } = options;
  const log = await openLog();
  const client = await database.getClient();
  await client('directory_change_writer').update({ expires_at: new Date(0) });
  const lease = (await log.acquire())!;
  const changes = names.map(name =>
    group === undefined
      ? { kind, entry_id: name, name }
      : {
          kind,
          entry_id: group,
          name: group,
          member_kind: 'user' as const,
          member_id: name,
          member_name: name,
        },
  );
  const entries = [...new Set(names)].map(name => ({
    id: name,
    kind: 'user' as const,
    name,
    locked: false,
    salt: '',
    digest: '',
  }));
  await log.append(
    lease,
    { changes, entries, deleted: [], added: [], removed: [] },
    { position: at, isStrict: false, isComplete: true },
  );
  return { log, lease };
}

async function openReader() {
  const reader = new ChangeReader({
    log: await openLog(),
    directory,
    position: () => position,
    compare: comparePositions,
  });
  const read = (options: Partial<Parameters<ChangeReader['read']>[0]> = {}) =>
    reader.read({ cursor: undefined, limit: 1000, context, ...options });
  return {
    reader,
    read,
    async page(...options: Parameters<typeof read>): Promise<ChangePage> {
      return (await read(...options))!;
    },
  };
}

const namesIn = ({ changes }: ChangePage) => changes.map(({ name }) => name);

/** Makes all events older than servers need for replication. */
async function age() {
  const client = await database.getClient();
  await client('directory_change_events').update({
    time: new Date(Date.now() - DAY_MS / 24),
  });
}

describe('ChangeReader', () => {
  it('returns the current cursor first, then the changes after it', async () => {
    const { page } = await openReader();
    await append(['alice']);
    const start = await page();
    expect(start).toMatchObject({ changes: [], hasMore: false });
    expect(await page({ cursor: start.cursor })).toMatchObject({
      changes: [],
      hasMore: false,
    });
    await append(['bob', 'alice']);
    const { changes, cursor } = await page({ cursor: start.cursor });
    expect(changes).toMatchObject([
      { kind: 'user_changed', name: 'bob' },
      { present_name: 'alice' },
    ]);
    expect(await page({ cursor })).toMatchObject({ changes: [] });
  });

  it('returns full pages of the changes to users that the policy shows', async () => {
    const { page } = await openReader();
    await append([]);
    const { cursor } = await page();
    await append(['bob', 'alice', 'bob', 'bob', 'alice', 'bob', 'alice']);
    expect(namesIn(await page({ cursor }))).toHaveLength(7);
    const first = await page({ cursor, limit: 2, context: restricted });
    expect(namesIn(first)).toEqual(['alice', 'alice']);
    expect(first.hasMore).toBe(true);
    const second = await page({
      cursor: first.cursor,
      limit: 2,
      context: restricted,
    });
    expect(namesIn(second)).toEqual(['alice']);
    expect(second.hasMore).toBe(false);
    const groupsOnly = {
      ...context,
      visible: { groups: { kind: 'anyOf', of: [] } },
    } as const;
    expect(namesIn(await page({ cursor, context: groupsOnly }))).toHaveLength(
      7,
    );
  });

  it('does not return changes of members that the policy hides', async () => {
    const { page } = await openReader();
    await append([]);
    const { cursor } = await page();
    await append(['bob', 'alice'], { kind: 'member_added', group: 'staff' });
    const { changes } = await page({ cursor, context: restricted });
    expect(changes).toMatchObject([{ name: 'staff', member_name: 'alice' }]);
  });

  it('returns a short page after 20,000 changes', async () => {
    const { page } = await openReader();
    await append([]);
    let { cursor } = await page();
    await append([...Array(20_000).fill('bob'), 'alice']);
    const first = await page({ cursor, limit: 1, context: restricted });
    expect(first).toMatchObject({ changes: [], hasMore: true });
    ({ cursor } = first);
    const second = await page({ cursor, limit: 1, context: restricted });
    expect(namesIn(second)).toEqual(['alice']);
    expect(second.hasMore).toBe(false);
  });

  it('returns changes when the own data contain them', async () => {
    const { page } = await openReader();
    await append(['alice']);
    const { cursor } = await page();
    await append(['bob'], { at: { server: 'here', value: '7' } });
    await append(['carol'], { at: { server: 'there', value: '1' } });
    expect(await page({ cursor })).toMatchObject({
      changes: [],
      hasMore: false,
    });
    // A client that starts now must not miss them.
    expect((await page()).cursor).toBe(cursor);
    position = { server: 'here', value: '7' };
    expect(namesIn(await page({ cursor }))).toEqual(['bob']);
    await age();
    expect(namesIn(await page({ cursor }))).toEqual(['bob', 'carol']);
    position = undefined;
    expect(namesIn(await page({ cursor }))).toEqual([]);
  });

  it('returns old changes of a server that was restored from a backup', async () => {
    const { page } = await openReader();
    await append([]);
    const { cursor } = await page();
    await append(['bob'], { at: { server: 'here', value: '7' } });
    expect(namesIn(await page({ cursor }))).toEqual([]);
    await age();
    expect(namesIn(await page({ cursor }))).toEqual(['bob']);
  });

  it('returns nothing for an expired or foreign cursor', async () => {
    const { page, read } = await openReader();
    await append(['alice']);
    const { cursor } = await page();
    const { log, lease } = await append(['bob', 'carol']);
    const { cursor: end } = await page();
    await age();
    await log.prune(lease, DAY_MS / 48);
    expect(await read({ cursor })).toBeUndefined();
    expect(await page({ cursor: end })).toMatchObject({ changes: [] });
    const { logId } = await log.state();
    for (const text of [
      '',
      'x',
      `${logId} 4`,
      '00000000-0000-4000-8000-000000000000 3',
    ]) {
      const wrong = Buffer.from(text).toString('base64url');
      expect(await read({ cursor: wrong })).toBeUndefined();
    }
  });

  it('rejects while the directory is unavailable, even without changes', async () => {
    const { page, read } = await openReader();
    await append([]);
    const { cursor } = await page();
    isAvailable = false;
    await expect(read()).rejects.toThrow(DirectoryUnavailableError);
    await expect(read({ cursor })).rejects.toThrow(DirectoryUnavailableError);
  });

  it('rejects while no process writes the log or before it is complete', async () => {
    const { page, read } = await openReader();
    await expect(read()).rejects.toThrow(ChangeLogUnavailableError);
    const { log, lease } = await append([]);
    const { cursor } = await page();
    await log.release(lease);
    await expect(read()).rejects.toThrow(ChangeLogUnavailableError);
    await expect(read({ cursor })).rejects.toThrow(ChangeLogUnavailableError);
  });

  it('rejects while the database is unavailable', async () => {
    const { page, read } = await openReader();
    await append([]);
    const { cursor } = await page();
    const client = await database.getClient();
    await client.schema.renameTable('directory_change_events', 'gone');
    await expect(read({ cursor })).rejects.toThrow(ChangeLogUnavailableError);
    await client.schema.renameTable('gone', 'directory_change_events');
  });

  it('returns histories that the policy shows, without locks', async () => {
    const { reader } = await openReader();
    const total = async (name: string, as: CallerContext) => {
      const entry = { kind: 'user', name } as const;
      return (await reader.historyOf(entry, { number: 1, size: 10 }, as)).total;
    };
    await expect(total('alice', context)).rejects.toThrow(
      ChangeLogUnavailableError,
    );
    await append(['alice', 'bob'], { kind: 'user_created' });
    await append(['alice'], { kind: 'user_locked' });
    expect(await total('alice', context)).toBe(1);
    expect(await total('alice', restricted)).toBe(1);
    expect(await total('bob', restricted)).toBe(0);
    expect(await total('nobody', context)).toBe(0);
  });
});
