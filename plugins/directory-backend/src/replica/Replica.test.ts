import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../__testUtils__/eventually';
import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { Replica } from './Replica';
import type {
  ReplicaEars,
  ReplicaKeys,
  ReplicaSource,
  TakePortion,
} from './ReplicaSource';

jest.setTimeout(30_000);

const KEYS: ReplicaKeys = {
  server: 'ldap://one',
  users: new Set(['uid=alice']),
  groups: new Set(['cn=staff']),
  agreements: new Set(),
};

/** A directory whose servers take turns at every look. */
class FlappingSource implements ReplicaSource {
  looks = 0;
  readings = 0;

  time: ReplicaSource['time'] = async () => ({
    ...{ server: 'ldap://one', era: ++this.looks, usn: 1, settledUsn: 1 },
    askedAt: performance.now(),
  });

  readAll: ReplicaSource['readAll'] = async () => {
    this.readings++;
    await sleep(150);
    return KEYS;
  };

  readAllGently: ReplicaSource['readAllGently'] = async () => KEYS;
  listChanges: ReplicaSource['listChanges'] = async () => ({
    ...{ server: 'ldap://one', numbers: new Map() },
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

  readKeys: ReplicaSource['readKeys'] = async () => KEYS;
  ears: ReplicaEars | undefined;

  listen: ReplicaSource['listen'] = async (_server, ears) => {
    this.ears = ears;
    return () => {};
  };
}

/** A directory of agreements: what of them can be seen, and by which number. */
class WrittenSource extends FlappingSource {
  usn = 1;
  settledUsn = 1;
  readonly agreements = new Map<string, { usn: number; enabled: boolean }>();
  readonly readFrom: number[] = [];

  override time: ReplicaSource['time'] = async () => ({
    ...{ server: 'ldap://one', era: 1, usn: this.usn },
    ...{ settledUsn: this.settledUsn, askedAt: performance.now() },
  });

  override listChanges: ReplicaSource['listChanges'] = async from => ({
    server: 'ldap://one',
    numbers: new Map(this.#from(from).map(([key, { usn }]) => [key, usn])),
  });

  override readChanges: ReplicaSource['readChanges'] = async (from, take) => {
    this.readFrom.push(from);
    this.#give(this.#from(from), take);
    return KEYS;
  };

  override readEntry: ReplicaSource['readEntry'] = async ({ key }, take) => {
    this.#give([[key, this.agreements.get(key)!]], take);
    return { server: KEYS.server, found: true };
  };

  #from(from: number) {
    return [...this.agreements].filter(([, { usn }]) => usn >= from);
  }

  #give(
    found: readonly (readonly [string, { enabled: boolean }])[],
    take: TakePortion,
  ) {
    const entries = found.map(([key, { enabled }]) => {
      return [key, { name: key, enabled, signers: new Set<string>() }] as const;
    });
    take({ kind: 'agreements', entries });
  }
}

describe('while it follows', () => {
  let source: WrittenSource;
  let replica: Replica;

  const enabled = () =>
    [...replica.tables.agreements.values()].map(
      agreement => `${agreement.name} ${agreement.enabled}`,
    );

  beforeEach(async () => {
    source = new WrittenSource();
    const logger = new RecordingLogger();
    replica = new Replica({
      ...{ source, logger, maxStalenessMs: 5000, maxShrinkage: 0.2 },
    });
    replica.follow();
    while (!replica.isUsable) {
      await sleep(20);
    }
  });
  afterEach(() => replica.stop());

  it('finds a write that can be seen long after later ones, and reads each once', async () => {
    source.usn = 9;
    source.agreements.set('cn=soon', { usn: 9, enabled: true });
    await eventually(() => expect(enabled()).toEqual(['cn=soon true']));
    await sleep(1000);
    expect(source.readFrom).toEqual([9]);
    source.agreements.set('cn=late', { usn: 2, enabled: true });
    await eventually(() => expect(enabled()).toHaveLength(2));
    await sleep(1000);
    expect(source.readFrom).toEqual([9, 2]);
  });

  it('takes back what the directory has taken back', async () => {
    source.agreements.set('cn=fas', { usn: 5, enabled: true });
    source.usn = source.settledUsn = 5;
    await sleep(600);
    source.usn = 6;
    source.agreements.set('cn=fas', { usn: 6, enabled: false });
    await eventually(() => expect(enabled()).toEqual(['cn=fas false']));
    source.agreements.set('cn=fas', { usn: 5, enabled: true });
    await eventually(() => expect(enabled()).toEqual(['cn=fas true']));
  });

  it('has what is there again before it was heard to be gone', async () => {
    source.usn = 3;
    source.agreements.set('cn=fas', { usn: 3, enabled: true });
    await eventually(() => expect(enabled()).toHaveLength(1));
    source.ears!.onGone('cn=fas');
    expect(enabled()).toEqual([]);
    await eventually(() => expect(enabled()).toHaveLength(1));
  });

  it('looks for nothing when all has settled', async () => {
    source.usn = source.settledUsn = 7;
    await sleep(600);
    source.agreements.set('cn=never', { usn: 7, enabled: true });
    await sleep(600);
    expect(enabled()).toEqual([]);
  });
});

it('removes a deleted user who is no longer a member of a changed group', async () => {
  const source = new WrittenSource();
  const give = (take: TakePortion, members: readonly string[]) =>
    take({
      kind: 'groups',
      entries: [['cn=staff', { members, sponsors: [] }]],
    });
  source.readAll = async take => {
    const users = ['uid=alice', 'uid=bob'];
    take({
      kind: 'users',
      entries: users.map(key => [key, { user: { username: key.slice(4) } }]),
    });
    give(take, users);
    return { ...KEYS, users: new Set(users) };
  };
  // Every new USN is accounted for, so that keys are not compared.
  source.listUsns = async () => ({
    server: 'ldap://one',
    usns: new Set([1, 2, 3]),
  });
  const replica = new Replica({
    source,
    logger: new RecordingLogger(),
    maxStalenessMs: 5000,
    maxShrinkage: 0.2,
  });
  replica.follow();
  await eventually(() => expect(replica.isUsable).toBe(true));

  // Both lose the membership, and only bob can still be read.
  source.listChanges = async () => ({
    server: 'ldap://one',
    numbers: new Map([['cn=staff', 3]]),
  });
  source.readChanges = async (_from, take) => {
    give(take, []);
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
  expect(replica.tables.groups.get('cn=staff')).toMatchObject({ members: [] });
  replica.stop();
});

it('does not read all anew each time when servers take turns', async () => {
  const source = new FlappingSource();
  const logger = new RecordingLogger();
  const replica = new Replica({
    ...{ source, logger, maxStalenessMs: 5000, maxShrinkage: 0.2 },
  });
  replica.follow();
  while (source.readings < 2) {
    await sleep(20);
  }
  const looks = source.looks;
  while (source.readings < 4) {
    await sleep(20);
  }
  replica.stop();

  expect(source.looks - looks).toBeGreaterThan(2);
  expect(logger.lines.join()).toContain('too short a time ago');
});
