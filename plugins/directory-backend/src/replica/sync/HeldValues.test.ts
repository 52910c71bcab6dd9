import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { emptyUser, type User } from '../../directory/records';
import { HeldValues } from './HeldValues';
import type { UserEntry } from '../tables/entries';
import type {
  ReplicaBatch,
  ReplicaPosition,
  ReplicationState,
} from './ReplicaSource';
import { ReplicaTables } from '../tables/ReplicaTables';
import { TableWriter } from './TableWriter';

const ALICE = 'uid=alice';
const MINUTE = 60_000;

function stateOf(
  latest: Record<string, string>,
  generation = '1',
): ReplicationState {
  return { generation, latest: new Map(Object.entries(latest)) };
}

const REQUIRED = stateOf({ 1: '05', 2: '03' });
const LAGGING = stateOf({ 1: '01', 2: '01' });

function alice(
  user: Partial<User> = {},
  account: Partial<UserEntry['account']> = {},
): UserEntry {
  return {
    user: { ...emptyUser(), username: 'alice', ...user } as User,
    account: {
      principalNames: ['alice@EXAMPLE.TEST'],
      locked: user.locked === true,
      isFoundByUsername: true,
      ...account,
    },
  };
}

describe('HeldValues', () => {
  let now = 0;
  let tables: ReplicaTables;
  let held: HeldValues;
  let writer: TableWriter;
  let logger: RecordingLogger;
  /** The server that the replica follows, and its replication state. */
  let server: { readonly url: string; state: ReplicationState | undefined };
  let createdAt: jest.Mock;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    server = { url: 'ldap://one', state: REQUIRED };
    createdAt = jest.fn(async () => undefined);
    tables = new ReplicaTables();
    logger = new RecordingLogger();
    held = new HeldValues({
      source: {
        createdAt,
        replicationState: async () =>
          server.state && { server: server.url, state: server.state },
      },
      tables,
      logger,
    });
    writer = new TableWriter({
      tables,
      restrict: batch => held.restrict(batch),
      onWrite: () => held.recordWrite(),
    });
    held.recordWrite();
  });
  afterEach(() => jest.restoreAllMocks());

  const position = (): ReplicaPosition => ({
    server: server.url,
    epoch: 1,
    usn: 1,
    committedUsn: 1,
    requestedAt: now,
  });

  const write = (...users: readonly UserEntry[]) =>
    writer.write(
      { kind: 'users', entries: users.map(user => [ALICE, user]) },
      now,
    );

  /**
   * Compares with another server that lags behind, and writes the differences.
   */
  async function switchTo(
    batch: ReplicaBatch,
    state: ReplicationState | undefined = LAGGING,
  ): Promise<void> {
    await held.update(position());
    server = { url: `${server.url}x`, state };
    const hold = await held.prepare(position(), 0);
    const check = writer.startCheck();
    check.compare(batch);
    await hold?.(check);
    for (const each of check.differences()) {
      writer.write(each, now);
    }
    writer.endCheck(check);
  }

  const switchToAlice = (
    user: UserEntry | undefined,
    state?: ReplicationState,
  ) => switchTo({ kind: 'users', entries: [[ALICE, user]] }, state);

  const recordOf = () => tables.users.served.get(ALICE)?.record;
  const accountOf = () =>
    tables.users.accountOf(tables.users.served.get(ALICE)!);

  it('holds a private flag and accepts other differences', async () => {
    write(alice({ is_private: true, surname: 'Old' }));
    await switchToAlice(alice({ is_private: false, surname: 'New' }));
    expect(recordOf()).toMatchObject({ is_private: true, surname: 'New' });
    expect([held.size, held.has(ALICE)]).toEqual([1, true]);
  });

  it('holds a lock of the record and of the account', async () => {
    write(alice({ locked: true }));
    await switchToAlice(alice());
    expect(recordOf()).toMatchObject({ locked: true });
    expect(accountOf()).toMatchObject({ locked: true });
  });

  it('holds an earlier expiry and accepts one that is earlier still', async () => {
    const days = [1, 2, 3].map(day => new Date(Date.UTC(2026, 0, day)));
    write(alice({}, { expires: days[1] }));
    await switchToAlice(alice({}, { expires: days[2] }));
    expect(accountOf().expires).toEqual(days[1]);
    write(alice({}, { expires: undefined }));
    expect(accountOf().expires).toEqual(days[1]);
    write(alice({}, { expires: days[0] }));
    expect(accountOf().expires).toEqual(days[0]);
  });

  it('holds the deletion of an old entry but accepts a new entry', async () => {
    await switchToAlice(alice());
    expect(recordOf()).toBeUndefined();
    expect(createdAt).toHaveBeenCalledWith({ kind: 'users', key: ALICE });
    server.state = REQUIRED;
    now += MINUTE;
    expect(await held.update(position())).toBe(true);
    createdAt.mockResolvedValue(new Date());
    await switchToAlice(alice());
    expect(recordOf()).toMatchObject({ username: 'alice' });
  });

  it('holds the deletion of groups and agreements', async () => {
    await switchTo({
      kind: 'groups',
      entries: [['cn=staff', { members: [ALICE], sponsors: [] }]],
    });
    await switchTo({
      kind: 'agreements',
      entries: [
        ['cn=fpca', { name: 'fpca', enabled: true, signers: new Set([ALICE]) }],
      ],
    });
    expect([...tables.groups.keys(), ...tables.agreements.keys()]).toEqual([]);
    expect(held.size).toBe(2);
  });

  it('holds many new entries without reading their creation times', async () => {
    await switchTo({
      kind: 'users',
      entries: Array.from({ length: 51 }, (_, n) => [
        `uid=${n}`,
        alice({ username: `user${n}` }),
      ]),
    });
    expect(held.size).toBe(51);
    expect(createdAt).not.toHaveBeenCalled();
  });

  it('holds nothing when the server has all changes', async () => {
    write(alice({ is_private: true }));
    await switchToAlice(alice({ is_private: false }), REQUIRED);
    expect(recordOf()).toMatchObject({ is_private: false });
    expect(logger.lines).toEqual([]);
  });

  it('holds values when a write followed the known replication state', async () => {
    write(alice({ is_private: true }));
    await held.update(position());
    write(alice({ is_private: true, surname: 'Later' }));
    server = { url: 'ldap://two', state: REQUIRED };
    expect(await held.prepare(position(), 0)).toBeDefined();
  });

  it('accepts stricter values of the new server', async () => {
    write(alice());
    await switchToAlice(alice({ is_private: true, locked: true }));
    expect(recordOf()).toMatchObject({ is_private: true, locked: true });
    await switchToAlice(undefined);
    expect(recordOf()).toBeUndefined();
    expect(held.size).toBe(0);
  });

  it('finds no difference in a held entry', async () => {
    write(alice({ is_private: true }));
    await switchToAlice(alice({ is_private: false }));
    const check = writer.startCheck();
    check.compare({
      kind: 'users',
      entries: [[ALICE, alice({ is_private: false })]],
    });
    expect(check.found.users.size).toBe(0);
  });

  it.each<[string, ReplicationState | undefined, number, boolean]>([
    ['has all changes', stateOf({ 1: '05', 2: '04', 3: '01' }), 1, true],
    [
      'lacks a change for less than an hour',
      stateOf({ 1: '05', 2: '02' }),
      59,
      false,
    ],
    ['lacks a change for an hour', stateOf({ 1: '', 2: '03' }), 60, true],
    [
      'does not know a server for less than 10 minutes',
      stateOf({ 1: '05' }),
      9,
      false,
    ],
    ['does not know a server for 10 minutes', stateOf({ 1: '05' }), 10, true],
    [
      'has other data for less than 10 minutes',
      stateOf({ 1: '05', 2: '03' }, '2'),
      9,
      false,
    ],
    ['hides its state for less than 10 minutes', undefined, 9, false],
    ['hides its state for 10 minutes', undefined, 10, true],
  ])(
    'releases or keeps values when a server %s',
    async (_, state, minutes, isReleased) => {
      write(alice({ is_private: true }));
      await switchToAlice(alice({ is_private: false }));
      server.state = state;
      now += minutes * MINUTE;
      expect(await held.update(position())).toBe(isReleased);
      expect(held.size).toBe(isReleased ? 0 : 1);
      write(alice({ is_private: false }));
      expect(recordOf()).toMatchObject({ is_private: !isReleased });
    },
  );

  it('requires the changes from each server whose values are held', async () => {
    write(alice({ is_private: true }));
    await switchToAlice(
      alice({ is_private: false }),
      stateOf({ 1: '05', 2: '02', 3: '07' }),
    );
    await switchToAlice(alice({ is_private: false }), LAGGING);
    now += MINUTE;
    server.state = REQUIRED;
    expect(await held.update(position())).toBe(false);
    server.state = stateOf({ 1: '05', 2: '03', 3: '06' });
    now += MINUTE;
    expect(await held.update(position())).toBe(false);
    server.state = stateOf({ 1: '05', 2: '03', 3: '07' });
    now += MINUTE;
    expect(await held.update(position())).toBe(true);
  });
});
