import { type KeyObject, createPrivateKey } from 'node:crypto';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CustomErrorBase, isError } from '@backstage/errors';
import {
  SecretFileError,
  readSecretFile,
} from '@directory-gateway/secret-files';

/** This node may not sign, and why; the message is for the log. */
export class UnusableKeyError extends CustomErrorBase {
  name = 'UnusableKeyError' as const;
}

/**
 * The file with the authority's private key (PKCS#8, PEM), mode 0600.
 *
 * A new key is first written beside it, under a name with the authority's id.
 * It gets its place only once the database has recorded the authority: a crash
 * in between leaves either a record with its key beside the place, or a key
 * that nobody knows.
 */
export class KeyFile {
  readonly path: string;
  readonly #passphraseFile: string | undefined;

  constructor(options: {
    /** Absolute. */
    readonly path: string;
    /** Absolute; without it a new key is not encrypted. */
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
      throw new UnusableKeyError(`${this.path} cannot be looked at`, error);
    }
  }

  /**
   * @returns `undefined` when the file is not there
   * @throws UnusableKeyError when it cannot be used, or others can use it, too.
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
        `${this.path} is not a private key in PEM, or the passphrase is not its own`,
        error,
      );
    }
  }

  /** Writes the key of an authority that is not recorded yet beside its place. */
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
      // A record without its key would be an authority that nobody has: the
      // key must outlive a power cut before the record is made.
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#syncFolder();
  }

  /**
   * Gives the key of a recorded authority its place, if it is beside it. Never
   * takes another key's place: that may be of another portal.
   */
  async promote(id: string): Promise<void> {
    try {
      await link(this.#pendingPath(id), this.path);
      await this.#syncFolder();
    } catch (error) {
      // ENOENT: it has its place already; EEXIST: something has.
      if (!isError(error) || !['ENOENT', 'EEXIST'].includes(`${error.code}`)) {
        throw new UnusableKeyError(`${this.path} cannot be made`, error);
      }
    }
  }

  /**
   * Removes the keys beside the place. Once an authority is recorded and its
   * key has its place, they are of authorities that never came to be.
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
        `${this.#passphraseFile} is not there, or is empty`,
      );
    }
    return passphrase;
  }

  /** Names in a folder are as safe as the folder (fsync(2)). */
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
 * Reads a file that only the portal's own user may read.
 *
 * @returns `undefined` when it is not there
 * @throws UnusableKeyError when others can read or write it, or it cannot be
 *   read.
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
