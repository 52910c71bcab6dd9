import { InputError } from '@backstage/errors';
import {
  SecretFileError,
  readSecretFile,
} from '@directory-gateway/secret-files';
import {
  type KeyObject,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import type { Config } from '@backstage/config';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';

/** Minimum length of a secret. */
const MIN_BYTES = 32;

/** Key length of A256CBC-HS512 (RFC 7518 §5.2.5). */
const KEY_BYTES = 64;

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A key for session tokens. */
export interface SessionKey {
  /** The `kid` of tokens. */
  readonly id: string;
  readonly key: KeyObject;
}

/**
 * The keys of session tokens: the first one encrypts, all decrypt. Keys and
 * their ids are derived from the configured secrets for this purpose only (RFC
 * 5869), so that a secret that is also used elsewhere does no harm.
 */
export class SessionKeys {
  /** The key that encrypts. */
  readonly current: SessionKey;
  readonly #byId: ReadonlyMap<string, KeyObject>;

  private constructor(secrets: readonly [Buffer, ...Buffer[]]) {
    this.current = derive(secrets[0]);
    this.#byId = new Map(
      secrets.map(derive).map(({ id, key }) => [id, key] as const),
    );
  }

  /**
   * Reads the configured secrets.
   *
   * @throws InputError that names the configuration key of a secret that is
   *   not usable; the message does not contain the secret.
   */
  static async load(secrets: readonly SessionSecret[]): Promise<SessionKeys> {
    const [first, ...others] = await Promise.all(secrets.map(loadSecret));
    const keys = new SessionKeys([first, ...others]);
    if (keys.#byId.size < secrets.length) {
      throw new InputError('directory.sessions.keys contains a secret twice');
    }
    return keys;
  }

  /** Creates a random key. */
  static random(): SessionKeys {
    return new SessionKeys([randomBytes(MIN_BYTES)]);
  }

  /** The key with an id; `undefined` when it is unknown. */
  find(id: string): KeyObject | undefined {
    return this.#byId.get(id);
  }
}

function derive(secret: Buffer): SessionKey {
  const expand = (purpose: string, bytes: number) =>
    Buffer.from(
      hkdfSync('sha512', secret, '', `directory session ${purpose}`, bytes),
    );
  return {
    id: expand('key id', 9).toString('base64url'),
    key: createSecretKey(expand('A256CBC-HS512', KEY_BYTES)),
  };
}

async function loadSecret(secret: SessionSecret): Promise<Buffer> {
  const text = secret.kind === 'value' ? secret.value : await readText(secret);
  const bytes = decode(text.trim());
  if (!bytes) {
    throw new InputError(`${secret.key} must be base64 or hexadecimal`);
  }
  if (bytes.length < MIN_BYTES) {
    throw new InputError(
      `${secret.key} has ${bytes.length} bytes, but a session key needs ${MIN_BYTES} random ones: openssl rand -base64 ${MIN_BYTES}`,
    );
  }
  return bytes;
}

async function readText(
  secret: SessionSecret & { readonly kind: 'file' },
): Promise<string> {
  try {
    return (await readSecretFile(secret.path)).toString('utf8');
  } catch (error) {
    throw error instanceof SecretFileError
      ? new InputError(`${secret.key}: ${error.message}`)
      : new InputError(`${secret.key} cannot be read`, error);
  }
}

/** Hexadecimal first: 32 bytes in hexadecimal are also base64, of 48 bytes. */
function decode(text: string): Buffer | undefined {
  if (HEX.test(text)) {
    return Buffer.from(text, 'hex');
  }
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** Maximum and default of `directory.sessions.maxAge`. */
const MAX_AGE_MS = 15 * 60 * 1000;

/** Where a session key comes from. */
export type SessionSecret = {
  /** The key of the configuration, for messages. */
  readonly key: string;
} & (
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
);

/** Configuration of sessions. */
export interface SessionsConfig {
  /** Lifetime of a session in milliseconds. */
  readonly maxAgeMs: number;
  /** The first one encrypts, all decrypt. Default: a random key. */
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
  const maxAgeMs = readMilliseconds(config, 'maxAge', {
    prefix: 'directory.sessions',
    fallback: { milliseconds: MAX_AGE_MS },
  });
  // Cookies count in seconds.
  if (!(maxAgeMs >= 1000 && maxAgeMs <= MAX_AGE_MS)) {
    throw new InputError(
      'directory.sessions.maxAge must be between 1 second and 15 minutes',
    );
  }
  const secrets = config?.getOptionalConfigArray('keys')?.map(readSecret);
  if (secrets?.length === 0) {
    throw new InputError(
      'directory.sessions.keys must contain a key; omit it to use a random key',
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
