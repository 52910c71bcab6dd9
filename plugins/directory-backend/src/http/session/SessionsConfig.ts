import { readDurationFromConfig, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';

/** No session is longer, whatever is configured. */
const LONGEST_MS = 15 * 60 * 1000;

/** Where a session key comes from. */
export type SessionSecret = {
  /** The key of the configuration, for messages. */
  readonly key: string;
} & (
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
);

/** How programs keep a session. */
export interface SessionsConfig {
  /** From the ticket to the session's end, in milliseconds. */
  readonly maxAgeMs: number;
  /** The first one seals, all open; `undefined`: one of the process's own. */
  readonly secrets?: readonly SessionSecret[];
}

/**
 * Reads `directory.sessions`; `undefined` when there are none.
 *
 * @throws InputError that names the key that is wrong.
 */
export function readSessionsConfig(
  directory: Config,
): SessionsConfig | undefined {
  const config = directory.getOptionalConfig('sessions');
  if (config?.getOptionalBoolean('enabled') === false) {
    return undefined;
  }
  const maxAgeMs = config?.has('maxAge')
    ? durationToMilliseconds(readDurationFromConfig(config, { key: 'maxAge' }))
    : LONGEST_MS;
  // Cookies count in seconds.
  if (!(maxAgeMs >= 1000 && maxAgeMs <= LONGEST_MS)) {
    throw new InputError(
      'directory.sessions.maxAge must be between 1 second and 15 minutes',
    );
  }
  const secrets = config?.getOptionalConfigArray('keys')?.map(readSecret);
  if (secrets?.length === 0) {
    throw new InputError(
      'directory.sessions.keys must hold a key; leave it out for one that the process makes',
    );
  }
  return Object.freeze({ maxAgeMs, secrets });
}

function readSecret(config: Config, index: number): SessionSecret {
  const key = `directory.sessions.keys[${index}]`;
  const value = config.getOptionalString('secret');
  const path = config.getOptionalString('secretFile');
  if ((value === undefined) === (path === undefined)) {
    throw new InputError(`Set one of secret and secretFile in ${key}`);
  }
  return path === undefined
    ? { key: `${key}.secret`, kind: 'value', value: value! }
    : { key: `${key}.secretFile`, kind: 'file', path };
}
