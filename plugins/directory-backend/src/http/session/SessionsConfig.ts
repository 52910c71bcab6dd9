import type { Config } from '@backstage/config';
import { readSecretSources, type SecretSource } from '../../secretKeys';

/** Purpose of the keys of session cookies. */
export const SESSION_KEYS = 'directory session';

/** Lifetime of a session. */
const MAX_AGE_MS = 15 * 60 * 1000;

/** Configuration of sessions. */
export interface SessionsConfig {
  /** Lifetime of a session in milliseconds. */
  readonly maxAgeMs: number;
  /** The first one encrypts, all decrypt. Default: a random key. */
  readonly secrets?: readonly SecretSource[];
}

/**
 * Reads `directory.sessions`; `undefined` when sessions are disabled.
 *
 * @throws InputError that names the invalid key.
 */
export function readSessionsConfig(
  directory: Config,
): SessionsConfig | undefined {
  const config = directory.getOptionalConfig('sessions');
  if (config?.getOptionalBoolean('enabled') === false) {
    return undefined;
  }
  const secrets = readSecretSources(config, { prefix: 'directory.sessions' });
  return Object.freeze({ maxAgeMs: MAX_AGE_MS, secrets });
}
