import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';
import { readSecretSources, type SecretSource } from '../secretKeys';

const PREFIX = 'directory.changes';

const DAY_MS = 24 * 60 * 60_000;

/** The `directory.changes` block. */
export interface ChangesConfig {
  /** Keys of the digests and cursors: the first is used for new ones. */
  readonly secrets: readonly SecretSource[];
  /** Milliseconds for which changes are retained. */
  readonly retentionMs: number;
  /** Whether histories can be read. */
  readonly history: boolean;
}

/**
 * Reads `directory.changes`; `undefined` when changes are not logged.
 *
 * @throws InputError that names the invalid key.
 */
export function readChangesConfig(
  directory: Config,
): ChangesConfig | undefined {
  const config = directory.getOptionalConfig('changes');
  if (!config) {
    return undefined;
  }
  const secrets = readSecretSources(config, { prefix: PREFIX });
  if (!secrets) {
    throw new InputError(
      `${PREFIX}.keys must contain a key. Generate one: openssl rand -base64 32`,
    );
  }
  const retentionMs = readMilliseconds(config, 'retention', {
    prefix: PREFIX,
    fallback: { days: 90 },
  });
  if (retentionMs < DAY_MS) {
    throw new InputError(`${PREFIX}.retention must be at least 1 day`);
  }
  const history = config.getOptionalBoolean('history') ?? false;
  return Object.freeze({ secrets, retentionMs, history });
}
