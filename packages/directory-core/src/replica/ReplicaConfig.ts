import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';

const PREFIX = 'directory.replica';

/**
 * Minimum of `maxStaleness`: detecting an unresponsive server and syncing with
 * the next one takes seconds.
 */
const MIN_STALENESS_MS = 5000;

/** Typed form of `directory.replica`. */
export interface ReplicaConfig {
  /** Age in milliseconds above which the replica is not read. */
  readonly maxStalenessMs: number;
  /**
   * Maximum share of users or groups that may be deleted in 24 hours (0 to 1).
   */
  readonly maxShrinkage: number;
}

/**
 * Reads `directory.replica`.
 *
 * @throws InputError that names the invalid key.
 */
export function readReplicaConfig(config: Config | undefined): ReplicaConfig {
  const maxShrinkage = config?.getOptionalNumber('maxShrinkage') ?? 0.2;
  if (maxShrinkage < 0 || maxShrinkage > 1) {
    throw new InputError(`${PREFIX}.maxShrinkage must be a share from 0 to 1`);
  }
  const maxStalenessMs = readMilliseconds(config, 'maxStaleness', {
    prefix: PREFIX,
    fallback: { minutes: 1 },
  });
  if (maxStalenessMs < MIN_STALENESS_MS) {
    throw new InputError(`${PREFIX}.maxStaleness must be at least 5 seconds`);
  }
  return Object.freeze({ maxStalenessMs, maxShrinkage });
}
