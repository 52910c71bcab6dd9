import { metrics, type ObservableCallback } from '@opentelemetry/api';
import type { Replica } from './Replica';
import type { ReplicaMode } from './sync/DirectorySync';
import { type ReplicaStatus, suspensionReasons } from './sync/ReplicaState';

const STATES: readonly ReplicaStatus['kind'][] = [
  'starting',
  'serving',
  'stale',
  'suspended',
];

const MODES: readonly ReplicaMode[] = ['changes', 'full'];

/** Exports metrics of a replica: age, state, mode, size and waiting reads. */
export function observeReplica(
  replica: Pick<Replica, 'state' | 'mode' | 'tables' | 'stricter'>,
): void {
  const { state, tables } = replica;
  const meter = metrics.getMeter('directory');
  const observe = (
    name: string,
    description: string,
    callback: ObservableCallback,
    unit?: string,
  ) =>
    meter
      .createObservableGauge(`directory.replica.${name}`, { description, unit })
      .addCallback(callback);

  observe(
    'age',
    'Time since the replica was last known to equal the directory',
    result => {
      // The age is infinite before the first sync.
      if (Number.isFinite(state.ageMs)) {
        result.observe(state.ageMs / 1000);
      }
    },
    's',
  );
  observe('state', '1 for the current state, 0 for the others', result => {
    for (const kind of STATES) {
      result.observe(kind === state.status.kind ? 1 : 0, { state: kind });
    }
  });
  observe('suspended', '1 while reads are suspended, by reason', result => {
    const { status } = state;
    const current = status.kind === 'suspended' ? status.reason : undefined;
    for (const reason of suspensionReasons) {
      result.observe(reason === current ? 1 : 0, { reason });
    }
  });
  observe(
    'mode',
    '1 for the current mode of the replica, 0 for the others',
    result => {
      for (const mode of MODES) {
        result.observe(mode === replica.mode ? 1 : 0, { mode });
      }
    },
  );
  observe('waiting', 'Reads waiting for the first sync', result =>
    result.observe(state.waiting),
  );
  observe('entries', 'Entries in the replica, by kind', result => {
    const { users, groups, agreements } = tables;
    result.observe(users.served.size, { kind: 'user' });
    result.observe(groups.size, { kind: 'group' });
    result.observe(agreements.size, { kind: 'agreement' });
  });
  observe(
    'held_entries',
    'Entries with stricter values than those of the directory server, after a switch',
    result => result.observe(replica.stricter.size),
  );
  meter
    .createObservableCounter('directory.replica.rejected', {
      description:
        'Reads rejected with 503 because the first sync had not finished in time',
    })
    .addCallback(result => result.observe(state.rejected));
}
