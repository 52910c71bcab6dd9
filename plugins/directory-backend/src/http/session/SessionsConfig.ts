import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';
import { readSecretSources, type SecretSource } from '../../secretKeys';

/** Purpose of the keys of session cookies. */
export const SESSION_KEYS = 'directory session';

/** Maximum and default of `directory.sessions.maxAge`. */
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
  const maxAgeMs = readMilliseconds(config, 'maxAge', {
    prefix: 'directory.sessions',
    fallback: { milliseconds: MAX_AGE_MS },
  });
  // `Max-Age` of cookies is in seconds.
  if (!(maxAgeMs >= 1000 && maxAgeMs <= MAX_AGE_MS)) {
    throw new InputError(
      'directory.sessions.maxAge must be between 1 second and 15 minutes',
    );
  }
  const secrets = readSecretSources(config, { prefix: 'directory.sessions' });
  return Object.freeze({ maxAgeMs, secrets });
}
