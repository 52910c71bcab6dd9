import {
  type KeyObject,
  createPrivateKey,
  generateKeyPairSync,
} from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError, isError } from '@backstage/errors';
import {
  SecretFileError,
  readSecretFile,
} from '@directory-gateway/secret-files';
import {
  type SignatureHash,
  type SigningKey,
  signingKeyOf,
} from '@directory-gateway/x509';
import { SignerUnavailableError } from '../CertificateSigner';

/**
 * Options of {@link KeyFile}.
 *
 * @public
 */
export interface KeyFileOptions {
  /** Absolute path. */
  readonly path: string;
  /** Absolute path. Default: the key is not encrypted. */
  readonly passphraseFile?: string;
  /** SubjectPublicKeyInfo of the key that the file must contain, DER. */
  readonly spki: Buffer;
}

/**
 * A CA's private key in a file (PEM), mode 0600. The file is read for the first
 * signature, and again for later ones until it can be read.
 *
 * @public
 */
export class KeyFile implements SigningKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  readonly #options: KeyFileOptions;
  #key: Promise<SigningKey> | undefined;

  constructor(options: KeyFileOptions) {
    this.spki = options.spki;
    this.#options = options;
  }

  /**
   * Signs data; see `SigningKey`.
   *
   * @throws SignerUnavailableError when the file cannot be read, is accessible
   *   to other users, or contains another key.
   */
  async sign(data: Buffer, hash: SignatureHash | undefined): Promise<Buffer> {
    const key = await this.open();
    return await key.sign(data, hash);
  }

  /**
   * Reads the file, if it has not been read yet.
   *
   * @throws SignerUnavailableError as for `sign`.
   */
  async open(): Promise<SigningKey> {
    this.#key ??= this.#read();
    try {
      return await this.#key;
    } catch (error) {
      this.#key = undefined;
      throw error;
    }
  }

  async #read(): Promise<SigningKey> {
    const key = signingKeyOf(await readKeyFile(this.#options));
    if (!key.spki.equals(this.spki)) {
      throw new SignerUnavailableError(
        `${this.#options.path} is not the key of the CA's certificate`,
      );
    }
    return key;
  }
}

/**
 * Reads a private key (PEM) from a file that only its owner may read.
 *
 * @throws SignerUnavailableError when the file cannot be read, or is accessible
 *   to other users.
 */
export async function readKeyFile(options: {
  readonly path: string;
  readonly passphraseFile?: string;
}): Promise<KeyObject> {
  const { path, passphraseFile } = options;
  const key = await readPrivateFile(path);
  const passphrase =
    passphraseFile === undefined
      ? undefined
      : await readPassphrase(passphraseFile);
  try {
    return createPrivateKey({ key, passphrase });
  } catch (error) {
    throw new SignerUnavailableError(
      `${path} is not a PEM private key, or the passphrase is wrong`,
      error,
    );
  }
}

/**
 * Reads a passphrase: the first line of a file that only its owner may read.
 *
 * @throws SignerUnavailableError when the file cannot be read, is accessible to
 *   other users, or is empty.
 */
export async function readPassphrase(path: string): Promise<string> {
  const text = await readPrivateFile(path);
  const passphrase = text.replace(/\r?\n$/, '');
  if (passphrase === '') {
    throw new SignerUnavailableError(`${path} is empty`);
  }
  return passphrase;
}

async function readPrivateFile(path: string): Promise<string> {
  try {
    const content = await readSecretFile(path, { groupMayRead: false });
    return content.toString('utf8');
  } catch (error) {
    if (isError(error) && error.code === 'ENOENT') {
      throw new SignerUnavailableError(`${path} does not exist`);
    }
    throw error instanceof SecretFileError
      ? new SignerUnavailableError(error.message)
      : new SignerUnavailableError(`${path} cannot be read`, error);
  }
}

/** Types of keys that can be generated. */
export const KEY_TYPES = ['P-256', 'P-384', 'P-521', 'rsa-3072'] as const;

/** One of {@link KEY_TYPES}. */
export type KeyType = (typeof KEY_TYPES)[number];

/** A file for a new private key. */
export interface NewKeyFile {
  /** Path of the file, mode 0600; it must not exist. */
  readonly path: string;
  readonly type: KeyType;
  /** Default: the key is not encrypted. */
  readonly passphraseFile?: string;
}

/**
 * Generates a private key in a new file.
 *
 * @throws InputError when the file exists.
 */
export async function generateKeyFile(
  options: NewKeyFile,
): Promise<SigningKey> {
  const { path, type, passphraseFile } = options;
  const key = generateKey(type);
  const passphrase =
    passphraseFile === undefined
      ? undefined
      : await readPassphrase(passphraseFile);
  const pem = key.export({
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase !== undefined && { cipher: 'aes-256-cbc', passphrase }),
  });
  await writeNewFile(path, pem.toString());
  return signingKeyOf(key);
}

function generateKey(type: KeyType): KeyObject {
  const { privateKey } =
    type === 'rsa-3072'
      ? generateKeyPairSync('rsa', { modulusLength: 3072 })
      : generateKeyPairSync('ec', { namedCurve: type });
  return privateKey;
}

/** Writes a file with mode 0600 that survives a power failure. */
export async function writeNewFile(
  path: string,
  content: string,
): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch(error => {
    throw isError(error) && error.code === 'EEXIST'
      ? new InputError(`${path} exists and will not be overwritten`)
      : error;
  });
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
