import { type KeyObject, createPrivateKey } from 'node:crypto';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CustomErrorBase, isError } from '@backstage/errors';
import {
  SecretFileError,
  readSecretFile,
} from '@directory-gateway/secret-files';

/** The reason why this instance cannot sign. The message is for the log. */
export class UnusableKeyError extends CustomErrorBase {
  name = 'UnusableKeyError' as const;
}

/**
 * The file with the CA's private key (PKCS#8, PEM), mode 0600.
 *
 * A new key is first written to a pending file, whose name contains the CA's id,
 * and is linked to the key file after the CA is recorded in the database. A
 * crash in between leaves either a record and its pending key, or a pending key
 * without a record.
 */
export class KeyFile {
  readonly path: string;
  readonly #passphraseFile: string | undefined;

  constructor(options: {
    /** Absolute path. */
    readonly path: string;
    /** Absolute path. Default: the key is not encrypted. */
    readonly passphraseFile?: string;
  }) {
    this.path = options.path;
    this.#passphraseFile = options.passphraseFile;
  }

  async exists(): Promise<boolean> {
    try {
      await stat(this.path);
      return true;
    } catch (error) {
      if (isError(error) && error.code === 'ENOENT') {
        return false;
      }
      throw new UnusableKeyError(`${this.path} cannot be accessed`, error);
    }
  }

  /**
   * @returns `undefined` when the file does not exist
   * @throws UnusableKeyError when it cannot be read, or is accessible to others.
   */
  async read(): Promise<KeyObject | undefined> {
    const key = await readPrivateFile(this.path);
    if (key === undefined) {
      return undefined;
    }
    const passphrase = await this.#readPassphrase();
    try {
      return createPrivateKey({ key, passphrase });
    } catch (error) {
      throw new UnusableKeyError(
        `${this.path} is not a private key in PEM, or the passphrase is wrong`,
        error,
      );
    }
  }

  /** Writes the pending key of a CA that is not recorded yet. */
  async writePending(id: string, key: KeyObject): Promise<void> {
    const passphrase = await this.#readPassphrase();
    const pem = key.export({
      type: 'pkcs8',
      format: 'pem',
      ...(passphrase !== undefined && { cipher: 'aes-256-cbc', passphrase }),
    });
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const file = await open(this.#pendingPath(id), 'wx', 0o600);
    try {
      await file.writeFile(pem);
      // A record without a key is useless: the key must survive a power failure
      // before the CA is recorded.
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#syncFolder();
  }

  /**
   * Links the pending key of a recorded CA, if there is one, to the key file.
   * Never replaces a key file: it may belong to another portal.
   */
  async promote(id: string): Promise<void> {
    try {
      await link(this.#pendingPath(id), this.path);
      await this.#syncFolder();
    } catch (error) {
      // ENOENT: no pending key; EEXIST: there is a key file.
      if (!isError(error) || !['ENOENT', 'EEXIST'].includes(`${error.code}`)) {
        throw new UnusableKeyError(`${this.path} cannot be created`, error);
      }
    }
  }

  /**
   * Removes pending keys: once the recorded CA has its key file, they belong to
   * CAs that were never recorded.
   */
  async removePending(): Promise<void> {
    const folder = dirname(this.path);
    const prefix = `${basename(this.path)}.`;
    for (const name of await readdir(folder)) {
      if (
        name.startsWith(prefix) &&
        /^[0-9a-f]{64}\.new$/.test(name.slice(prefix.length))
      ) {
        await rm(join(folder, name), { force: true });
      }
    }
  }

  #pendingPath(id: string): string {
    return `${this.path}.${id}.new`;
  }

  async #readPassphrase(): Promise<string | undefined> {
    if (this.#passphraseFile === undefined) {
      return undefined;
    }
    const text = await readPrivateFile(this.#passphraseFile);
    const passphrase = text?.replace(/\r?\n$/, '');
    if (!passphrase) {
      throw new UnusableKeyError(
        `${this.#passphraseFile} does not exist, or is empty`,
      );
    }
    return passphrase;
  }

  /** Makes new names in the folder durable (fsync(2)). */
  async #syncFolder(): Promise<void> {
    const folder = await open(dirname(this.path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

/**
 * Reads a file that only the portal's user may read.
 *
 * @returns `undefined` when it does not exist
 * @throws UnusableKeyError when it cannot be read, or is accessible to others.
 */
async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    const content = await readSecretFile(path, { groupMayRead: false });
    return content.toString('utf8');
  } catch (error) {
    if (isError(error) && error.code === 'ENOENT') {
      return undefined;
    }
    throw error instanceof SecretFileError
      ? new UnusableKeyError(error.message)
      : new UnusableKeyError(`${path} cannot be read`, error);
  }
}
