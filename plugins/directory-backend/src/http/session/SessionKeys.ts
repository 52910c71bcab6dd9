import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readSecretFile } from '@directory-gateway/secret-files';
import {
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** Minimum length of a secret in bytes. */
const MIN_BYTES = 32;

/** A secret of the configuration. */
export interface SessionSecret {
  /** Its key of the configuration, for messages. */
  readonly key: string;
  read(): Promise<string>;
}

/** Configuration of sessions. */
export interface SessionsConfig {
  /** The first one encrypts, all decrypt. Default: a random key. */
  readonly secrets?: readonly SessionSecret[];
}

/**
 * Reads `directory.sessions`; `undefined` when sessions are disabled.
 *
 * @throws InputError that names the invalid key
 */
export function readSessionsConfig(
  directory: Config,
): SessionsConfig | undefined {
  const prefix = 'directory.sessions.keys';
  const config = directory.getOptionalConfig('sessions');
  if (config?.getOptionalBoolean('enabled') === false) {
    return undefined;
  }
  const secrets = config
    ?.getOptionalConfigArray('keys')
    ?.map((each, index) => readSecret(each, `${prefix}[${index}]`));
  if (secrets?.length === 0) {
    throw new InputError(`${prefix} must contain a key if it is set`);
  }
  return Object.freeze({ secrets });
}

function readSecret(config: Config, key: string): SessionSecret {
  const value = config.getOptionalString('secret');
  const path = config.getOptionalString('secretFile');
  if (value !== undefined && path === undefined) {
    return { key: `${key}.secret`, read: async () => value };
  }
  if (value === undefined && path !== undefined) {
    const read = async () => (await readSecretFile(path)).toString('utf8');
    return { key: `${key}.secretFile`, read };
  }
  throw new InputError(`Set one of secret and secretFile in ${key}`);
}

/** Keys of session cookies by id: the first one encrypts, all decrypt. */
export type SessionKeys = ReadonlyMap<string, KeyObject>;

/**
 * Loads the keys of the configured secrets, or creates a random one.
 *
 * @throws InputError that names the configuration key of a secret that is not
 *   usable; the message does not contain the secret
 */
export async function loadSessionKeys({
  secrets,
}: SessionsConfig): Promise<SessionKeys> {
  const loaded = secrets
    ? await Promise.all(secrets.map(loadSecret))
    : [randomBytes(MIN_BYTES)];
  const keys = new Map(loaded.map(deriveKey));
  if (keys.size < loaded.length) {
    throw new InputError(
      'directory.sessions.keys contains the same secret twice',
    );
  }
  return keys;
}

async function loadSecret({ key, read }: SessionSecret): Promise<Buffer> {
  const content = await read().catch(error => {
    throw new InputError(`${key} cannot be read`, error);
  });
  const text = content.trim();
  // First, because 32 bytes in hexadecimal are also base64, of 48 bytes.
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
  if (!isHex && !/^[a-z0-9+/]+={0,2}$/i.test(text)) {
    throw new InputError(`${key} must be base64 or hexadecimal`);
  }
  const secret = Buffer.from(text, isHex ? 'hex' : 'base64');
  if (secret.length < MIN_BYTES) {
    throw new InputError(
      `${key} has ${secret.length} bytes, but a key needs ${MIN_BYTES} random ones: openssl rand -base64 ${MIN_BYTES}`,
    );
  }
  return secret;
}

/**
 * Derives an id and a key of 64 bytes, as A256CBC-HS512 needs (RFC 7518 §5.2.5).
 * They do not reveal the secret, which may have other purposes (RFC 5869).
 */
function deriveKey(secret: Buffer): [string, KeyObject] {
  const derive = (use: string, bytes: number) =>
    Buffer.from(
      hkdfSync('sha512', secret, '', `directory session ${use}`, bytes),
    );
  return [
    derive('key id', 9).toString('base64url'),
    createSecretKey(derive('A256CBC-HS512', 64)),
  ];
}
