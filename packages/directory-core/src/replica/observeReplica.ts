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

/** Exports metrics of a replica: age, state, mode and size. */
export function observeReplica(
  replica: Pick<Replica, 'state' | 'mode' | 'tables'>,
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
  const observeOneOf = (
    name: string,
    description: string,
    options: {
      readonly attribute: string;
      readonly values: readonly string[];
      readonly current: () => string | undefined;
    },
  ) =>
    observe(name, description, result => {
      const current = options.current();
      for (const value of options.values) {
        const isCurrent = value === current;
        result.observe(isCurrent ? 1 : 0, { [options.attribute]: value });
      }
    });
  observeOneOf('state', '1 for the current state, 0 for the others', {
    attribute: 'state',
    values: STATES,
    current: () => state.status.kind,
  });
  observeOneOf('suspended', '1 while reads are suspended, by reason', {
    attribute: 'reason',
    values: suspensionReasons,
    current: () =>
      state.status.kind === 'suspended' ? state.status.reason : undefined,
  });
  observeOneOf(
    'mode',
    '1 for the current mode of the replica, 0 for the others',
    { attribute: 'mode', values: MODES, current: () => replica.mode },
  );
  observe('entries', 'Entries in the replica, by kind', result => {
    const { users, groups, agreements } = tables;
    result.observe(users.served.size, { kind: 'user' });
    result.observe(groups.size, { kind: 'group' });
    result.observe(agreements.size, { kind: 'agreement' });
  });
}
