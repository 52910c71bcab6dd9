import { setTimeout as sleep } from 'node:timers/promises';
import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { Replica } from './Replica';
import type { ReplicaKeys, ReplicaSource } from './ReplicaSource';

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
