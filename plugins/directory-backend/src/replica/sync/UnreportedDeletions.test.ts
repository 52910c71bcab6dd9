import assert from 'node:assert';
import { eventually } from '../../__testUtils__/eventually';
import { createGuard } from '../../__testUtils__/MemoryGuardRecords';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { Replica } from '../Replica';
import type { ReplicaSource, OnBatch } from './ReplicaSource';

jest.setTimeout(180_000);

const server = 'ldap://one';

/** Returns the key of the group that exists as long as an agreement. */
const groupOf = (agreement: string) => `${agreement},cn=groups`;

/**
 * A directory of agreements that does not report deletions. Its other entries,
 * readable or not, have USNs too.
 */
class SilentSource implements ReplicaSource {
  usn = 20;
  committedUsn = 20;
  /** USN of the last write by key. */
  readonly agreements = new Map(
    Array.from({ length: 20 }, (_, index) => [`cn=${index}`, index + 1]),
  );
  /** USNs of the readable entries of other kinds. */
  readonly otherUsns = new Set<number>();
  comparisons = 0;
  polls = 0;

  readPosition: ReplicaSource['readPosition'] = async () => {
    this.polls++;
    return {
      server,
      epoch: 1,
      usn: this.usn,
      committedUsn: this.committedUsn,
      requestedAt: performance.now(),
    };
  };

  readAll: ReplicaSource['readAll'] = async onBatch => {
    this.#give(onBatch, 0);
    return this.#keys();
  };

  readAllThrottled: ReplicaSource['readAllThrottled'] = this.readAll;

  listChanges: ReplicaSource['listChanges'] = async from => ({
    server,
    usns: new Map([...this.agreements].filter(([, usn]) => usn >= from)),
  });

  readChanges: ReplicaSource['readChanges'] = async (from, onBatch) => {
    this.#give(onBatch, from);
    return { server };
  };

  readEntry: ReplicaSource['readEntry'] = async () => ({
    server,
    found: false,
  });

  listUsns: ReplicaSource['listUsns'] = async from => ({
    server,
    usns: new Set(
      [...this.agreements.values(), ...this.otherUsns].filter(
        usn => usn >= from,
      ),
    ),
  });

  readKeys: ReplicaSource['readKeys'] = async () => {
    this.comparisons++;
    return this.#keys();
  };

  verifyAccess: ReplicaSource['verifyAccess'] = async () => {};
  createdAt: ReplicaSource['createdAt'] = async () => undefined;
  replicationState: ReplicaSource['replicationState'] = async () => undefined;
  subscribe: ReplicaSource['subscribe'] = async () => () => {};

  /** Moves an entry to where the account cannot read it. */
  hide(key: string): void {
    this.usn++;
    this.agreements.delete(key);
  }

  #keys() {
    return {
      server,
      users: new Set(['uid=alice']),
      groups: new Set([...this.agreements.keys()].map(groupOf)),
      agreements: new Set(this.agreements.keys()),
    };
  }

  #give(onBatch: OnBatch, from: number): void {
    const changed = [...this.agreements].filter(([, usn]) => usn >= from);
    onBatch({
      kind: 'agreements',
      entries: changed.map(([key]) => [
        key,
        { name: key, enabled: true, signers: new Set() },
      ]),
    });
    onBatch({
      kind: 'groups',
      entries: changed.map(([key]) => [
        groupOf(key),
        { members: [], sponsors: [] },
      ]),
    });
  }
}

describe('UnreportedDeletions', () => {
  let source: SilentSource;
  let replica: Replica;
  let logger: RecordingLogger;

  const keys = () => [...replica.tables.agreements.keys()];

  /** Resolves after the replica has polled several times. */
  const untilPolled = async () => {
    const { polls } = source;
    await eventually(() => expect(source.polls).toBeGreaterThan(polls + 5));
  };

  beforeEach(async () => {
    source = new SilentSource();
    // A second passes between two polls.
    jest
      .spyOn(performance, 'now')
      .mockImplementation(() => 1000 * source.polls);
    logger = new RecordingLogger();
    replica = new Replica({
      source,
      logger,
      maxStalenessMs: 60_000,
      guard: createGuard(),
      pollMs: 10,
      settlingMs: 10,
    });
    replica.follow();
    await eventually(() => assert(replica.isServing));
  });
  afterEach(() => {
    replica.stop();
    jest.restoreAllMocks();
  });

  it('removes an entry that was hidden without a notification', async () => {
    source.hide('cn=7');
    await eventually(() =>
      expect(logger.lines.join('\n')).toContain(
        'Removed entries that the directory no longer returns: agreements 1',
      ),
    );
    expect(keys()).toHaveLength(19);
    expect(keys()).not.toContain('cn=7');
  });

  it('keeps entries that cannot be read while the account lacks a right', async () => {
    source.verifyAccess = async () => {
      throw new Error('no right');
    };
    source.hide('cn=7');
    await eventually(() =>
      expect(logger.lines.join('\n')).toContain(
        'The replica cannot check for unreported deletions: Error: no right',
      ),
    );
    expect(keys()).toHaveLength(20);
    source.verifyAccess = async () => {};
    await eventually(() => expect(keys()).not.toContain('cn=7'));
  });

  it('finds an entry that was temporarily unreadable', async () => {
    const usn = source.agreements.get('cn=7')!;
    source.hide('cn=7');
    await eventually(() => expect(keys()).not.toContain('cn=7'));
    source.agreements.set('cn=7', usn);
    source.usn++;
    await eventually(() => expect(keys()).toContain('cn=7'));
  });

  it('does not compare keys when readable entries carry all new USNs', async () => {
    const before = source.comparisons;
    for (let write = 0; write < 3; write++) {
      source.otherUsns.add(++source.usn);
      await untilPolled();
    }
    expect(source.comparisons).toBe(before);
    // One further USN is not carried by a readable entry.
    source.usn++;
    await eventually(() => expect(source.comparisons).toBeGreaterThan(before));
  });

  it('compares keys when the USNs of readable entries cannot be listed', async () => {
    source.listUsns = async () => {
      throw new Error('listing failed');
    };
    source.hide('cn=7');
    await eventually(() => expect(keys()).not.toContain('cn=7'));
    const warnings = logger.lines.filter(line => line.includes('listing'));
    expect(warnings).toHaveLength(1);
  });

  it('compares again when a deletion becomes visible after its USN', async () => {
    const before = source.comparisons;
    source.usn++;
    await eventually(() =>
      expect(source.comparisons).toBeGreaterThan(before + 1),
    );
    expect(keys()).toHaveLength(20);
    source.agreements.delete('cn=7');
    await eventually(() => expect(keys()).toHaveLength(19));
    source.committedUsn = source.usn;
    await untilPolled();
    const settled = source.comparisons;
    await untilPolled();
    expect(source.comparisons).toBe(settled);
  });

  it('suspends reads when the mass-deletion guard rejects the remaining keys', async () => {
    for (const key of keys().slice(0, 15)) {
      source.hide(key);
    }
    await eventually(() =>
      expect(replica.status).toMatchObject({ reason: 'quarantine' }),
    );
    expect(keys()).toHaveLength(20);
  });
});
