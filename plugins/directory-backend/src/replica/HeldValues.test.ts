import { emptyUser, type User } from '../directory/User';
import { HeldValues } from './HeldValues';
import type { CopiedUser } from './ReplicaSource';
import { createTables, type ReplicaTables } from './ReplicaTables';
import type { ReplicationState } from './ReplicationState';
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

function alice(
  user: Partial<User> = {},
  account: Partial<CopiedUser['account']> = {},
): CopiedUser {
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
  let isNew: jest.Mock;

  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    tables = createTables();
    held = new HeldValues();
    writer = new TableWriter({ tables, held });
    isNew = jest.fn(async () => false);
  });
  afterEach(() => jest.restoreAllMocks());

  const write = (...users: readonly CopiedUser[]) =>
    writer.take(
      { kind: 'users', entries: users.map(user => [ALICE, user]) },
      now,
    );

  /** Switches to a server that has this entry, and writes what differs. */
  async function switchTo(user: CopiedUser | undefined): Promise<void> {
    const check = writer.startCheck();
    check.look({ kind: 'users', entries: [[ALICE, user]] });
    await held.hold(check, { tables, required: REQUIRED, isNew });
    for (const portion of check.differences()) {
      writer.take(portion, now);
    }
    writer.endCheck(check);
  }

  const recordOf = () => tables.users.served.get(ALICE)?.record;
  const accountOf = () =>
    tables.users.accountOf(tables.users.served.get(ALICE)!);

  it('holds a private flag, and takes what else differs', async () => {
    write(alice({ is_private: true, surname: 'Old' }));
    await switchTo(alice({ is_private: false, surname: 'New' }));
    expect(recordOf()).toMatchObject({ is_private: true, surname: 'New' });
    expect([held.size, held.has(ALICE)]).toEqual([1, true]);
  });

  it('holds a lock of the record and of the account', async () => {
    write(alice({ locked: true }));
    await switchTo(alice());
    expect(recordOf()).toMatchObject({ locked: true });
    expect(accountOf()).toMatchObject({ locked: true });
  });

  it('holds an earlier expiry, and takes a still earlier one', async () => {
    const days = [1, 2, 3].map(day => new Date(Date.UTC(2026, 0, day)));
    write(alice({}, { expires: days[1] }));
    await switchTo(alice({}, { expires: days[2] }));
    expect(accountOf().expires).toEqual(days[1]);
    write(alice({}, { expires: undefined }));
    expect(accountOf().expires).toEqual(days[1]);
    write(alice({}, { expires: days[0] }));
    expect(accountOf().expires).toEqual(days[0]);
  });

  it('holds a deletion of an old entry, not the absence of a new one', async () => {
    await switchTo(alice());
    expect(recordOf()).toBeUndefined();
    expect(isNew).toHaveBeenCalledWith({ kind: 'users', key: ALICE });
    held.release(REQUIRED);
    isNew.mockResolvedValue(true);
    await switchTo(alice());
    expect(recordOf()).toMatchObject({ username: 'alice' });
  });

  it('holds the deletion of groups and agreements', async () => {
    const check = writer.startCheck();
    check.look({
      kind: 'groups',
      entries: [['cn=staff', { members: [ALICE], sponsors: [] }]],
    });
    check.look({
      kind: 'agreements',
      entries: [
        ['cn=fpca', { name: 'fpca', enabled: true, signers: new Set([ALICE]) }],
      ],
    });
    await held.hold(check, { tables, required: REQUIRED, isNew });
    for (const portion of check.differences()) {
      writer.take(portion, now);
    }
    expect([...tables.groups.keys(), ...tables.agreements.keys()]).toEqual([]);
    expect(held.size).toBe(2);
  });

  it('holds many new entries without reading when each was created', async () => {
    const check = writer.startCheck();
    check.look({
      kind: 'users',
      entries: Array.from({ length: 51 }, (_, n) => [
        `uid=${n}`,
        alice({ username: `user${n}` }),
      ]),
    });
    await held.hold(check, { tables, required: REQUIRED, isNew });
    expect(held.size).toBe(51);
    expect(isNew).not.toHaveBeenCalled();
  });

  it('takes what is stricter on the new server', async () => {
    write(alice());
    await switchTo(alice({ is_private: true, locked: true }));
    expect(recordOf()).toMatchObject({ is_private: true, locked: true });
    await switchTo(undefined);
    expect(recordOf()).toBeUndefined();
    expect(held.size).toBe(0);
  });

  it('finds no difference in an entry that is held', async () => {
    write(alice({ is_private: true }));
    await switchTo(alice({ is_private: false }));
    const check = writer.startCheck();
    check.look({
      kind: 'users',
      entries: [[ALICE, alice({ is_private: false })]],
    });
    expect(check.found('users').size).toBe(0);
  });

  it.each<[string, ReplicationState | undefined, number, string | undefined]>([
    ['has all changes', stateOf({ 1: '05', 2: '04', 3: '01' }), 0, 'covered'],
    ['lacks a change', stateOf({ 1: '05', 2: '02' }), 59, undefined],
    ['lacks a change for an hour', stateOf({ 1: '', 2: '03' }), 60, 'behind'],
    ['does not know a server', stateOf({ 1: '05' }), 9, undefined],
    ['still does not know it', stateOf({ 1: '05' }), 10, 'unknown'],
    ['has other data', stateOf({ 1: '05', 2: '03' }, '2'), 9, undefined],
    ['hides its state', undefined, 9, undefined],
    ['still hides its state', undefined, 10, 'unknown'],
  ])('releases when a server %s', async (_, state, minutes, expected) => {
    write(alice({ is_private: true }));
    await switchTo(alice({ is_private: false }));
    now += minutes * MINUTE;
    expect(held.release(state)).toBe(expected);
    expect(held.size).toBe(expected ? 0 : 1);
    write(alice({ is_private: false }));
    expect(recordOf()).toMatchObject({ is_private: !expected });
  });

  it('requires the changes of each server whose values are held', async () => {
    expect(held.requiredAfter(REQUIRED)).toBe(REQUIRED);
    write(alice({ is_private: true }));
    await switchTo(alice({ is_private: false }));
    expect(held.requiredAfter(stateOf({ 2: '07', 3: '01' }))).toEqual(
      stateOf({ 1: '05', 2: '07', 3: '01' }),
    );
    expect(held.requiredAfter(undefined)).toBeUndefined();
  });
});
