import { readDurationFromConfig, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';
import type { ReplicaOptions } from './Replica';

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
  const maxStalenessMs = config?.has('maxStaleness')
    ? durationToMilliseconds(
        readDurationFromConfig(config, { key: 'maxStaleness' }),
      )
    : 60_000;
  if (maxStalenessMs < MIN_STALENESS_MS) {
    throw new InputError(
      'directory.replica.maxStaleness must be at least 5 seconds',
    );
  }
  return Object.freeze({ maxStalenessMs, maxShrinkage });
}
