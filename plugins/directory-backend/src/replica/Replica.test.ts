import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../__testUtils__/eventually';
import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { Replica } from './Replica';
import type { ReplicaKeys, ReplicaSource } from './ReplicaSource';

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
  readChanges: ReplicaSource['readChanges'] = async () => KEYS;
  readKeys: ReplicaSource['readKeys'] = async () => KEYS;
  listen: ReplicaSource['listen'] = async () => () => {};
}

/** A directory that shows a write only long after it was counted. */
class SlowSource extends FlappingSource {
  usn = 1;
  shown = false;

  override time: ReplicaSource['time'] = async () => ({
    ...{ server: 'ldap://one', era: 1, usn: this.usn, settledUsn: this.usn },
    askedAt: performance.now(),
  });

  override readChanges: ReplicaSource['readChanges'] = async (from, take) => {
    if (this.shown && from <= 2) {
      const enabled = true;
      const entry = { name: 'late', enabled, signers: new Set<string>() };
      take({ kind: 'agreements', entries: [['cn=late', entry]] });
    }
    return KEYS;
  };
}

it('finds a write that was long on its way', async () => {
  const source = new SlowSource();
  const logger = new RecordingLogger();
  const replica = new Replica({
    ...{ source, logger, maxStalenessMs: 5000, maxShrinkage: 0.2 },
  });
  replica.follow();
  const { agreements } = replica.tables;
  await eventually(() => expect(replica.isUsable).toBe(true));
  source.usn = 2;
  await sleep(5000);
  // The clock says that it is settled, and nothing is written any more.
  expect([...agreements.values()]).toEqual([]);
  source.shown = true;
  await eventually(() => expect([...agreements.values()]).toHaveLength(1));
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
