import assert from 'node:assert';
import { randomBytes } from 'node:crypto';
import { eventually } from '../__testUtils__/eventually';
import { withDatabase } from '../__testUtils__/withDatabase';
import { PrincipalSet, type Caller } from '../directory/Caller';
import type { Directory } from '../directory/Directory';
import { DirectoryUnavailableError } from '../directory/errors';
import { PrivateDirectory } from '../directory/PrivateDirectory';
import type { VerifiedPrincipal } from '../directory/Principal';
import { emptyUser } from '../directory/records';
import { openDatabase } from '../openDatabase';
import { SecretKeys } from '../secretKeys';
import { ChangeCursors } from './ChangeCursors';
import {
  ChangeFeed,
  ChangeLogUnavailableError,
  type ChangePage,
  type ChangeRequest,
  TooManyWaitingError,
} from './ChangeFeed';
import { ChangeLog, type NewChange, type RecordedEntry } from './ChangeLog';

const database = withDatabase();
const keys = SecretKeys.random('test');

/** Private flags of the current users by name. */
const users = new Map<string, { isPrivate: boolean }>();
let isAvailable = true;
let isLogging = true;

beforeEach(() => {
  isAvailable = true;
  isLogging = true;
  users.clear();
  users.set('alice', { isPrivate: false });
  users.set('bob', { isPrivate: true });
});

const directory = new PrivateDirectory(
  {
    async getUser({ username }, { visible }) {
      // The replica evaluates the predicate.
      const isShown = !visible || username === 'alice';
      const user = isShown ? users.get(username) : undefined;
      return user && { ...emptyUser(), username, is_private: user.isPrivate };
    },
    async countMembers() {
      if (!isAvailable) {
        throw new DirectoryUnavailableError('stale', { reason: 'stale' });
      }
      return new Map();
    },
  } as Partial<Directory> as Directory,
  {
    hidden: new Set(['surname']),
    trustedReaders: new PrincipalSet({}),
    ownOnly: new Set(['certificates']),
  },
);

function callerNamed(username: string): Caller {
  return {
    kind: 'kerberos',
    principal: `${username}@EXAMPLE.TEST`,
    credential: 'ticket',
    account: { username } as VerifiedPrincipal,
  };
}

const IDS: Readonly<Record<string, number>> = { alice: 1, bob: 2, carol: 3 };

function entryOf(name: string): RecordedEntry {
  return {
    id: IDS[name],
    kind: 'user',
    key: `uid=${name}`,
    uniqueId: undefined,
    name,
    locked: false,
    digests: '{}',
    keyId: 'a',
  };
}

/** Appends changes to users, as another process does. */
async function append(
  changes: readonly Omit<NewChange, 'entry'>[],
  name = 'alice',
  to?: ChangeLog,
) {
  const log = to ?? (await openLog());
  const { lease } = await log.acquire();
  await log.append(
    lease!,
    {
      changes: changes.map(change => ({ ...change, entry: entryOf(name) })),
      entries: users.has(name) ? [entryOf(name)] : [],
      deleted: [],
      added: [],
      removed: [],
    },
    { position: '{}', isComplete: true, lastEntryId: 3 },
  );
  await log.release(lease!);
}

const changed = (...fields: string[]) => [
  { kind: 'user_changed' as const, fields },
];

async function openLog() {
  return ChangeLog.open(await openDatabase(database));
}

async function openFeed() {
  const log = await openLog();
  const reads = jest.spyOn(log, 'read');
  const hooks: (() => void | Promise<void>)[] = [];
  const feed = new ChangeFeed({
    log,
    cursors: new ChangeCursors(keys),
    directory,
    isLogging: () => isLogging,
    lifecycle: {
      addStartupHook() {},
      addShutdownHook: hook => hooks.push(hook),
    },
  });
  const request = (changes: Partial<ChangeRequest>): ChangeRequest => {
    const context = {
      caller: callerNamed('dave'),
      signal: new AbortController().signal,
    };
    return {
      cursor: undefined,
      limit: 1000,
      waitMs: 0,
      context,
      verifyAgain: async () => changes.context ?? context,
      ...changes,
    };
  };
  return {
    log,
    /** Waits until requests with a cursor have read the log so many times. */
    untilRead: (times: number) =>
      eventually(() => assert(reads.mock.calls.length >= times)),
    shutDown: () => hooks.forEach(hook => hook()),
    read: (changes: Partial<ChangeRequest> = {}) => feed.read(request(changes)),
    async page(changes: Partial<ChangeRequest> = {}): Promise<ChangePage> {
      const result = await feed.read(request(changes));
      if (result.outcome !== 'read') {
        throw new Error(result.outcome);
      }
      return result.page;
    },
  };
}

/** Resolves to whether a promise is still pending after some turns. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const log = await openLog();
  for (let turn = 0; turn < 20; turn++) {
    await log.position();
  }
  const pending = Symbol('pending');
  return (await Promise.race([promise, pending])) === pending;
}

describe('ChangeFeed', () => {
  it('returns the current cursor first, then the changes after it', async () => {
    const { page } = await openFeed();
    await append(changed('emails'));
    const start = await page();
    expect(start).toMatchObject({ changes: [], hasMore: false });
    expect(await page({ cursor: start.cursor })).toMatchObject({ changes: [] });
    await append([...changed('emails'), { kind: 'user_locked' }]);
    const { changes, cursor } = await page({ cursor: start.cursor });
    expect(changes).toMatchObject([
      {
        kind: 'user_changed',
        subject: { kind: 'user', name: 'alice', presentName: 'alice' },
        fields: ['emails'],
      },
      { kind: 'user_locked' },
    ]);
    expect(await page({ cursor })).toMatchObject({ changes: [] });
  });

  it('returns changes to the users that the policy shows', async () => {
    const { page } = await openFeed();
    const { cursor } = await page();
    await append([{ kind: 'user_locked' }], 'alice');
    await append([{ kind: 'user_locked' }], 'bob');
    await append([{ kind: 'user_deleted' }], 'carol');
    const isAlice = { kind: 'isUser', username: 'alice' } as const;
    const context = {
      caller: callerNamed('dave'),
      signal: new AbortController().signal,
      visible: { users: isAlice },
    };
    const namesIn = ({ changes }: ChangePage) =>
      changes.map(({ subject }) => subject.name);
    expect(namesIn(await page({ cursor, context }))).toEqual(['alice']);
    expect(namesIn(await page({ cursor }))).toEqual(['alice', 'bob', 'carol']);
    const groupsOnly = {
      ...context,
      visible: { groups: { kind: 'anyOf', of: [] } },
    } as const;
    expect(namesIn(await page({ cursor, context: groupsOnly }))).toHaveLength(
      3,
    );
  });

  it('returns pages and reports whether more changes exist', async () => {
    const { page } = await openFeed();
    let { cursor } = await page();
    await append([
      ...changed('emails'),
      ...changed('locale'),
      ...changed('emails'),
    ]);
    const first = await page({ cursor, limit: 2 });
    expect(first.changes).toHaveLength(2);
    expect(first.hasMore).toBe(true);
    cursor = first.cursor;
    const second = await page({ cursor, limit: 2 });
    expect(second.changes).toHaveLength(1);
    expect(second.hasMore).toBe(false);
  });

  it('encrypts each cursor differently', async () => {
    const { page } = await openFeed();
    const [one, other] = [await page(), await page()];
    expect(one.cursor).not.toBe(other.cursor);
    expect(one.cursor).toHaveLength(other.cursor.length);
    expect(one.cursor).toMatch(/^[\w.-]+$/);
  });

  it('rejects a modified cursor and a cursor encrypted with other keys', async () => {
    const { page, read, log } = await openFeed();
    const { cursor } = await page();
    const parts = cursor.split('.');
    const changedText = randomBytes(48).toString('base64url');
    const foreign = await new ChangeCursors(SecretKeys.random('x')).encrypt({
      logId: log.logId,
      after: 0,
    });
    for (const wrong of [
      '',
      'x',
      '0',
      '....',
      [...parts.slice(0, 3), changedText, parts[4]].join('.'),
      foreign,
    ]) {
      expect(await read({ cursor: wrong })).toEqual({ outcome: 'invalid' });
    }
  });

  it('reports an expired cursor when changes were deleted or the database is new', async () => {
    const { page, read, log } = await openFeed();
    const { cursor } = await page();
    await append(changed('emails'));
    await append(changed('emails'));
    const { lease } = await log.acquire();
    const future = new Date(Date.now() + 60_000);
    await log.prune(lease!, { before: future, deletedBefore: new Date(0) });
    expect(await read({ cursor })).toEqual({ outcome: 'expired' });
    const cursors = new ChangeCursors(keys);
    for (const position of [
      { logId: log.logId, after: 3 },
      { logId: '00000000-0000-4000-8000-000000000000', after: 2 },
    ]) {
      expect(await read({ cursor: await cursors.encrypt(position) })).toEqual({
        outcome: 'expired',
      });
    }
    const { cursor: present } = await page();
    expect(await read({ cursor: present })).toMatchObject({ outcome: 'read' });
  });

  it('returns only names of fields that the caller may see now', async () => {
    const { page } = await openFeed();
    const { cursor } = await page();
    await append(changed('surname', 'emails', 'certificates'));
    await append(changed('surname'));
    const fieldsFor = async (caller: Caller) => {
      const signal = new AbortController().signal;
      const { changes } = await page({ cursor, context: { caller, signal } });
      return changes.map(({ fields }) => fields);
    };
    expect(await fieldsFor(callerNamed('dave'))).toEqual([
      ['surname', 'emails'],
      ['surname'],
    ]);
    users.set('alice', { isPrivate: true });
    expect(await fieldsFor(callerNamed('dave'))).toEqual([['emails']]);
    expect(await fieldsFor(callerNamed('alice'))).toEqual([
      ['surname', 'emails', 'certificates'],
      ['surname'],
    ]);
    users.delete('alice');
    expect(await fieldsFor(callerNamed('dave'))).toEqual([['emails']]);
  });

  it('rejects while the directory is unavailable, even without changes', async () => {
    const { page, read } = await openFeed();
    const { cursor } = await page();
    isAvailable = false;
    await expect(read()).rejects.toThrow(DirectoryUnavailableError);
    await expect(read({ cursor })).rejects.toThrow(DirectoryUnavailableError);
  });

  it('returns changes but rejects an empty result while changes are not logged', async () => {
    const { page, read } = await openFeed();
    const { cursor } = await page();
    isLogging = false;
    await expect(read()).rejects.toThrow(ChangeLogUnavailableError);
    await expect(read({ cursor })).rejects.toThrow(ChangeLogUnavailableError);
    await append(changed('emails'), 'alice');
    expect((await page({ cursor })).changes).toHaveLength(1);
  });

  it('rejects while the database is unavailable', async () => {
    const { page, read } = await openFeed();
    const { cursor } = await page();
    const client = await database.getClient();
    await client.schema.renameTable('directory_changes', 'gone');
    await expect(read({ cursor })).rejects.toThrow(ChangeLogUnavailableError);
    await client.schema.renameTable('gone', 'directory_changes');
  });

  describe('waits', () => {
    const waitMs = 60_000;

    it.each(['this', 'another'])(
      'until %s process has appended',
      async process => {
        const { page, log } = await openFeed();
        const { cursor } = await page();
        const waiting = page({ cursor, waitMs });
        expect(await isPending(waiting)).toBe(true);
        await append(
          changed('emails'),
          'alice',
          process === 'this' ? log : undefined,
        );
        expect((await waiting).changes).toHaveLength(1);
      },
    );

    it('while only hidden fields change', async () => {
      const { page, log } = await openFeed();
      const { cursor } = await page();
      const waiting = page({ cursor, waitMs });
      await append(changed('surname'), 'bob', log);
      expect(await isPending(waiting)).toBe(true);
      await append(changed('emails'), 'bob', log);
      expect((await waiting).changes).toMatchObject([{ fields: ['emails'] }]);
    });

    it('until the time has elapsed', async () => {
      const { page } = await openFeed();
      const { cursor } = await page();
      expect(await page({ cursor, waitMs: 1 })).toMatchObject({ changes: [] });
    });

    it('until the caller loses access', async () => {
      const { page, log, untilRead } = await openFeed();
      const { cursor } = await page();
      const waiting = page({
        cursor,
        waitMs,
        verifyAgain: () => Promise.reject(new Error('account_locked')),
      });
      await untilRead(1);
      await append(changed('emails'), 'alice', log);
      await expect(waiting).rejects.toThrow('account_locked');
    });

    it('until the portal is shut down', async () => {
      const { page, shutDown } = await openFeed();
      const { cursor } = await page();
      const waiting = page({ cursor, waitMs });
      expect(await isPending(waiting)).toBe(true);
      shutDown();
      expect(await waiting).toMatchObject({ changes: [] });
    });

    it('in at most four requests from a caller, until they disconnect', async () => {
      const { page, untilRead } = await openFeed();
      const { cursor } = await page();
      const disconnected = new AbortController();
      const context = {
        caller: callerNamed('dave'),
        signal: disconnected.signal,
      };
      const request = { cursor, waitMs, context };
      const waiting = [1, 2, 3, 4].map(() => page(request));
      await untilRead(4);
      await expect(page(request)).rejects.toThrow(TooManyWaitingError);
      // Requests that do not wait, and requests from another caller.
      await page({ ...request, waitMs: 0 });
      const other = { ...context, caller: callerNamed('erin') };
      waiting.push(page({ ...request, context: other }));
      disconnected.abort();
      await Promise.all(waiting);
      await page({ cursor, waitMs: 1 });
    });

    it('in at most 500 requests from all callers', async () => {
      const { page, untilRead } = await openFeed();
      const { cursor } = await page();
      const disconnected = new AbortController();
      const requestOf = (index: number) => ({
        cursor,
        waitMs,
        context: {
          caller: callerNamed(`user${Math.floor(index / 4)}`),
          signal: disconnected.signal,
        },
      });
      const waiting = Array.from({ length: 500 }, (_, index) =>
        page(requestOf(index)),
      );
      await untilRead(500);
      await expect(page(requestOf(500))).rejects.toThrow(TooManyWaitingError);
      disconnected.abort();
      await Promise.all(waiting);
    });
  });
});
