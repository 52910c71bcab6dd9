import assert from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../__testUtils__/eventually';
import { createGuard } from '../__testUtils__/MemoryGuardRecords';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { Replica } from './Replica';
import type {
  ChangeSubscriber,
  ReplicaKeys,
  ReplicaSource,
  OnBatch,
} from './sync/ReplicaSource';

jest.setTimeout(180_000);

const KEYS: ReplicaKeys = {
  server: 'ldap://one',
  users: new Set(['uid=alice']),
  groups: new Set(['cn=staff']),
  agreements: new Set(),
};

/** A directory in which another server responds to each poll. */
class FlappingSource implements ReplicaSource {
  polls = 0;
  /**
   * Start and end of each full sync, in milliseconds from `performance.now()`.
   */
  readonly syncs: { readonly from: number; readonly to: number }[] = [];

  readPosition: ReplicaSource['readPosition'] = async () => ({
    server: 'ldap://one',
    epoch: ++this.polls,
    usn: 1,
    committedUsn: 1,
    requestedAt: performance.now(),
  });

  readAll: ReplicaSource['readAll'] = async () => {
    const from = performance.now();
    await sleep(150);
    this.syncs.push({ from, to: performance.now() });
    return KEYS;
  };

  readAllThrottled: ReplicaSource['readAllThrottled'] = async () => KEYS;
  listChanges: ReplicaSource['listChanges'] = async () => ({
    server: 'ldap://one',
    usns: new Map(),
  });

  readChanges: ReplicaSource['readChanges'] = async () => KEYS;
  readEntry: ReplicaSource['readEntry'] = async () => ({
    server: 'ldap://one',
    found: false,
  });
  listUsns: ReplicaSource['listUsns'] = async () => ({
    server: 'ldap://one',
    usns: new Set(),
  });

  verifyAccess: ReplicaSource['verifyAccess'] = async () => {};
  readKeys: ReplicaSource['readKeys'] = async () => KEYS;
  subscriber: ChangeSubscriber | undefined;

  createdAt: ReplicaSource['createdAt'] = async () => undefined;
  replicationState: ReplicaSource['replicationState'] = async () => undefined;
  subscribe: ReplicaSource['subscribe'] = async (_server, subscriber) => {
    this.subscriber = subscriber;
    return () => {};
  };
}

/** A directory of agreements whose visibility and USNs the test controls. */
class WrittenSource extends FlappingSource {
  usn = 1;
  committedUsn = 1;
  readonly agreements = new Map<string, { usn: number; enabled: boolean }>();
  readonly readFrom: number[] = [];

  override readPosition: ReplicaSource['readPosition'] = async () => {
    this.polls++;
    return {
      server: 'ldap://one',
      epoch: 1,
      usn: this.usn,
      committedUsn: this.committedUsn,
      requestedAt: performance.now(),
    };
  };

  override listChanges: ReplicaSource['listChanges'] = async from => ({
    server: 'ldap://one',
    usns: new Map(this.#from(from).map(([key, { usn }]) => [key, usn])),
  });

  override readChanges: ReplicaSource['readChanges'] = async (
    from,
    onBatch,
  ) => {
    this.readFrom.push(from);
    this.#give(this.#from(from), onBatch);
    return KEYS;
  };

  override readEntry: ReplicaSource['readEntry'] = async ({ key }, onBatch) => {
    this.#give([[key, this.agreements.get(key)!]], onBatch);
    return { server: KEYS.server, found: true };
  };

  #from(from: number) {
    return [...this.agreements].filter(([, { usn }]) => usn >= from);
  }

  #give(
    found: readonly (readonly [string, { enabled: boolean }])[],
    onBatch: OnBatch,
  ) {
    const entries = found.map(([key, { enabled }]) => {
      return [key, { name: key, enabled, signers: new Set<string>() }] as const;
    });
    onBatch({ kind: 'agreements', entries });
  }
}

describe('Replica', () => {
  let source: WrittenSource;
  let replica: Replica;

  /** Waits until the replica has polled a number of times. */
  const untilPolled = async (times: number) => {
    const { polls } = source;
    await eventually(() => assert(source.polls > polls + times));
  };

  const enabled = () =>
    [...replica.tables.agreements.values()].map(
      agreement => `${agreement.name} ${agreement.enabled}`,
    );

  beforeEach(async () => {
    source = new WrittenSource();
    replica = new Replica({
      source,
      logger: new RecordingLogger(),
      maxStalenessMs: 60_000,
      guard: createGuard(),
      pollMs: 10,
    });
    replica.follow();
    await eventually(() => assert(replica.isServing));
  });
  afterEach(() => replica.stop());

  it('finds a write that becomes visible after later ones and reads each write once', async () => {
    source.usn = 9;
    source.agreements.set('cn=soon', { usn: 9, enabled: true });
    await eventually(() => expect(enabled()).toEqual(['cn=soon true']));
    await untilPolled(3);
    expect(source.readFrom).toEqual([9]);
    source.agreements.set('cn=late', { usn: 2, enabled: true });
    await eventually(() => expect(enabled()).toHaveLength(2));
    await untilPolled(3);
    expect(source.readFrom).toEqual([9, 2]);
  });

  it('reverts a write that the directory has reverted', async () => {
    source.agreements.set('cn=fas', { usn: 5, enabled: true });
    source.usn = source.committedUsn = 5;
    await untilPolled(2);
    source.usn = 6;
    source.agreements.set('cn=fas', { usn: 6, enabled: false });
    await eventually(() => expect(enabled()).toEqual(['cn=fas false']));
    source.agreements.set('cn=fas', { usn: 5, enabled: true });
    await eventually(() => expect(enabled()).toEqual(['cn=fas true']));
  });

  it('keeps an entry that was recreated before its deletion was reported', async () => {
    source.usn = 3;
    source.agreements.set('cn=fas', { usn: 3, enabled: true });
    await eventually(() => expect(enabled()).toHaveLength(1));
    source.subscriber!.onDeleted('cn=fas');
    expect(enabled()).toEqual([]);
    await eventually(() => expect(enabled()).toHaveLength(1));
  });

  it('does not search when all writes are committed', async () => {
    source.usn = source.committedUsn = 7;
    await untilPolled(2);
    source.agreements.set('cn=never', { usn: 7, enabled: true });
    await untilPolled(2);
    expect(enabled()).toEqual([]);
  });
});

it('removes a deleted user who is no longer a member of a changed group', async () => {
  const source = new WrittenSource();
  const give = (onBatch: OnBatch, members: readonly string[]) =>
    onBatch({
      kind: 'groups',
      entries: [['cn=staff', { members, sponsors: [] }]],
    });
  source.readAll = async onBatch => {
    const users = ['uid=alice', 'uid=bob'];
    onBatch({
      kind: 'users',
      entries: users.map(key => [key, { user: { username: key.slice(4) } }]),
    });
    give(onBatch, users);
    return { ...KEYS, users: new Set(users) };
  };
  // A readable entry carries each new USN, so that keys are not compared.
  source.listUsns = async () => ({
    server: 'ldap://one',
    usns: new Set([1, 2, 3]),
  });
  const replica = new Replica({
    source,
    logger: new RecordingLogger(),
    maxStalenessMs: 60_000,
    guard: createGuard(),
    pollMs: 10,
  });
  replica.follow();
  await eventually(() => expect(replica.isServing).toBe(true));

  // Both users lose the membership; only bob can still be read.
  source.listChanges = async () => ({
    server: 'ldap://one',
    usns: new Map([['cn=staff', 3]]),
  });
  source.readChanges = async (_from, onBatch) => {
    give(onBatch, []);
    return KEYS;
  };
  source.readEntry = async ({ key }) => ({
    server: KEYS.server,
    found: key === 'uid=bob',
  });
  source.usn = 3;

  await eventually(() =>
    expect([...replica.tables.users.keys()]).toEqual(['uid=bob']),
  );
  expect(replica.tables.groups.graph.get('cn=staff')).toMatchObject({
    members: [],
  });
  replica.stop();
});

it('suspends reads as soon as too many deletions are reported', async () => {
  const source = new WrittenSource();
  const names = Array.from({ length: 100 }, (_, index) => `user${index}`);
  const users = new Set(names.map(name => `uid=${name}`));
  source.readAll = async onBatch => {
    await onBatch({
      kind: 'users',
      entries: names.map(name => [`uid=${name}`, { user: { username: name } }]),
    });
    return { ...KEYS, users, groups: new Set() };
  };
  source.readKeys = async () => ({ ...KEYS, users, groups: new Set() });
  const replica = new Replica({
    source,
    logger: new RecordingLogger(),
    maxStalenessMs: 60_000,
    guard: createGuard(),
    pollMs: 10,
  });
  replica.follow();
  await eventually(() => expect(replica.isServing).toBe(true));

  const { onDeleted } = source.subscriber!;
  const deleted = [...users].slice(0, 21);
  for (const key of deleted.slice(0, 20)) {
    users.delete(key);
    onDeleted(key);
  }
  expect(replica.isServing).toBe(true);
  users.delete(deleted[20]);
  onDeleted(deleted[20]);
  expect(replica.status).toMatchObject({
    reason: 'quarantine',
    message: expect.stringContaining('79 users and 0 groups, after 100 and 0'),
  });
  const { polls } = source;
  await eventually(() => assert(source.polls > polls + 2));
  expect(replica.status).toMatchObject({ reason: 'quarantine' });

  // The last deleted user is added again.
  users.add(deleted[20]);
  replica.retry();
  await eventually(() => expect(replica.isServing).toBe(true));
  replica.stop();
});

it('pauses between full syncs when servers alternate', async () => {
  const source = new FlappingSource();
  const logger = new RecordingLogger();
  const replica = new Replica({
    source,
    logger,
    maxStalenessMs: 60_000,
    guard: createGuard(),
    pollMs: 10,
  });
  replica.follow();
  await eventually(() => expect(source.syncs.length).toBeGreaterThan(3));
  replica.stop();

  for (const [index, { from }] of source.syncs.entries()) {
    const last = source.syncs[index - 1];
    // Syncs take at most half of the time; timers may fire a millisecond early.
    const pauseMs = last ? last.to - last.from - 2 : 0;
    expect(from - (last?.to ?? 0)).toBeGreaterThanOrEqual(pauseMs);
  }
});
