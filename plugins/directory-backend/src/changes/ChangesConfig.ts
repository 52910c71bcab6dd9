import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';

const PREFIX = 'directory.changes';

const DAY_MS = 24 * 60 * 60_000;

/** The `directory.changes` block. */
export interface ChangesConfig {
  /** Milliseconds for which changes are retained. */
  readonly retentionMs: number;
  /** Whether histories and times of joining can be read. */
  readonly history: boolean;
}

/**
 * Reads `directory.changes`.
 *
 * @throws InputError that names the invalid key.
 */
export function readChangesConfig(directory: Config): ChangesConfig {
  const config = directory.getOptionalConfig('changes');
  const retentionMs = readMilliseconds(config, 'retention', {
    prefix: PREFIX,
    fallback: { days: 90 },
  });
  if (retentionMs < DAY_MS) {
    throw new InputError(`${PREFIX}.retention must be at least 1 day`);
  }
  const history = config?.getOptionalBoolean('history') ?? false;
  return Object.freeze({ retentionMs, history });
}
