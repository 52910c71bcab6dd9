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

/** Minimum length of a secret. */
const MIN_BYTES = 32;

/** Key length of A256CBC-HS512 (RFC 7518 §5.2.5), also enough for HMACs. */
const KEY_BYTES = 64;

const HEX = /^(?:[0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Where a key comes from. */
export type SecretSource = {
  /** The key of the configuration, for messages. */
  readonly key: string;
} & (
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
);

/** A key that was derived from a configured secret. */
export interface SecretKey {
  /** Identifies the key; does not reveal the secret. */
  readonly id: string;
  readonly key: KeyObject;
}

/**
 * The keys of one purpose: the first one encrypts, all decrypt. Keys and their
 * ids are derived from the configured secrets for this purpose only (RFC 5869),
 * so that a secret may also be used for other purposes.
 */
export class SecretKeys {
  readonly #all: readonly [SecretKey, ...SecretKey[]];

  private constructor(all: readonly [SecretKey, ...SecretKey[]]) {
    this.#all = all;
  }

  /**
   * Reads the configured secrets.
   *
   * @throws InputError that names the configuration key of a secret that is
   *   not usable; the message does not contain the secret.
   */
  static async load(
    secrets: readonly SecretSource[],
    purpose: string,
  ): Promise<SecretKeys> {
    const [first, ...others] = await Promise.all(secrets.map(loadSecret));
    const all = [
      derive(first, purpose),
      ...others.map(secret => derive(secret, purpose)),
    ] as const;
    if (new Set(all.map(({ id }) => id)).size < all.length) {
      const list = secrets[0].key.replace(/\[.*$/, '');
      throw new InputError(`${list} contains the same secret twice`);
    }
    return new SecretKeys(all);
  }

  /** Creates a random key. */
  static random(purpose: string): SecretKeys {
    return new SecretKeys([derive(randomBytes(MIN_BYTES), purpose)]);
  }

  /** The keys in the order of the secrets. */
  get all(): readonly [SecretKey, ...SecretKey[]] {
    return this.#all;
  }

  /** The key that encrypts. */
  get current(): SecretKey {
    return this.#all[0];
  }

  /** The key with an id; `undefined` when it is unknown. */
  find(id: string): KeyObject | undefined {
    return this.#all.find(each => each.id === id)?.key;
  }
}

function derive(secret: Buffer, purpose: string): SecretKey {
  const expand = (use: string, bytes: number) =>
    Buffer.from(hkdfSync('sha512', secret, '', `${purpose} ${use}`, bytes));
  return {
    id: expand('key id', 9).toString('base64url'),
    key: createSecretKey(expand('A256CBC-HS512', KEY_BYTES)),
  };
}

async function loadSecret(secret: SecretSource): Promise<Buffer> {
  const text = secret.kind === 'value' ? secret.value : await readText(secret);
  const bytes = decode(text.trim());
  if (!bytes) {
    throw new InputError(`${secret.key} must be base64 or hexadecimal`);
  }
  if (bytes.length < MIN_BYTES) {
    throw new InputError(
      `${secret.key} has ${bytes.length} bytes, but a key needs ${MIN_BYTES} random ones: openssl rand -base64 ${MIN_BYTES}`,
    );
  }
  return bytes;
}

async function readText(
  secret: SecretSource & { readonly kind: 'file' },
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

/**
 * Reads a list of secrets, each with `secret` or `secretFile`; `undefined`
 * without the list.
 *
 * @throws InputError that names the invalid key.
 */
export function readSecretSources(
  config: Config | undefined,
  options: { readonly prefix: string },
): readonly SecretSource[] | undefined {
  const name = `${options.prefix}.keys`;
  const sources = config
    ?.getOptionalConfigArray('keys')
    ?.map((each, index) => readSource(each, `${name}[${index}]`));
  if (sources?.length === 0) {
    throw new InputError(`${name} must contain a key if it is set`);
  }
  return sources;
}

function readSource(config: Config, key: string): SecretSource {
  const value = config.getOptionalString('secret');
  const path = config.getOptionalString('secretFile');
  if ((value === undefined) === (path === undefined)) {
    throw new InputError(`Set one of secret and secretFile in ${key}`);
  }
  return path === undefined
    ? { key: `${key}.secret`, kind: 'value', value: value! }
    : { key: `${key}.secretFile`, kind: 'file', path };
}
