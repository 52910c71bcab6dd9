import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';
import type { Replica, ReplicaOptions } from './Replica';
import { metrics } from '@opentelemetry/api';
import { type ReplicaStatus, suspensionReasons } from './sync/ReplicaState';

/**
 * Minimum of `maxStaleness`: noticing that a server does not respond and syncing
 * with the next one takes seconds.
 */
const MIN_STALENESS_MS = 5000;

/** How a copy in memory is used. */
export type ReplicaConfig = Pick<ReplicaOptions, 'maxStalenessMs'> & {
  /** Maximum share of users or groups that may be deleted in 24 hours, 0 to 1. */
  readonly maxShrinkage: number;
};

/**
 * Reads `directory.replica`.
 *
 * @throws InputError that names the key that is wrong.
 */
export function readReplicaConfig(config: Config | undefined): ReplicaConfig {
  const maxShrinkage = config?.getOptionalNumber('maxShrinkage') ?? 0.2;
  if (maxShrinkage < 0 || maxShrinkage > 1) {
    throw new InputError(
      'directory.replica.maxShrinkage must be a share from 0 to 1',
    );
  }
  const maxStalenessMs = readMilliseconds(config, 'maxStaleness', {
    prefix: 'directory.replica',
    fallback: { minutes: 1 },
  });
  if (maxStalenessMs < MIN_STALENESS_MS) {
    throw new InputError(
      'directory.replica.maxStaleness must be at least 5 seconds',
    );
  }
  return Object.freeze({ maxStalenessMs, maxShrinkage });
}

const states: readonly ReplicaStatus['kind'][] = [
  'starting',
  'serving',
  'stale',
  'suspended',
];

/** Exports the age, state and size of a replica, and the reads that wait for it. */
export function observeReplica(
  replica: Pick<Replica, 'ageMs' | 'status' | 'gate' | 'tables'>,
): void {
  const meter = metrics.getMeter('directory');
  meter
    .createObservableGauge('directory.replica.age', {
      description:
        'Time since the replica was last known to equal the directory',
      unit: 's',
    })
    .addCallback(result => {
      // Before the first sync, there is no age.
      if (Number.isFinite(replica.ageMs)) {
        result.observe(replica.ageMs / 1000);
      }
    });
  meter
    .createObservableGauge('directory.replica.suspended', {
      description: '1 while reads are suspended, by reason',
    })
    .addCallback(result => {
      const { status } = replica;
      const current = status.kind === 'suspended' ? status.reason : undefined;
      for (const reason of suspensionReasons) {
        result.observe(reason === current ? 1 : 0, { reason });
      }
    });
  meter
    .createObservableGauge('directory.replica.state', {
      description: '1 for the current state, 0 for the others',
    })
    .addCallback(result => {
      const { kind } = replica.status;
      for (const state of states) {
        result.observe(state === kind ? 1 : 0, { state });
      }
    });
  meter
    .createObservableGauge('directory.replica.waiting', {
      description: 'Reads that wait for the first sync',
    })
    .addCallback(result => result.observe(replica.gate.waiting));
  meter
    .createObservableCounter('directory.replica.rejected', {
      description:
        'Reads that got 503 because the first sync had not finished in time',
    })
    .addCallback(result => result.observe(replica.gate.rejected));
  meter
    .createObservableGauge('directory.replica.entries', {
      description: 'Entries in the replica, by kind',
    })
    .addCallback(result => {
      const { users, groups, agreements } = replica.tables;
      result.observe(users.served.size, { kind: 'user' });
      result.observe(groups.size, { kind: 'group' });
      result.observe(agreements.size, { kind: 'agreement' });
    });
}
