import { CompactEncrypt, compactDecrypt, errors } from 'jose';
import type { SecretKeys } from '../secretKeys';

/** Distinguishes cursors from other tokens (RFC 8725 §3.11). */
const TYPE = 'directory-changes-cursor';

const ALGORITHM = 'dir';

/** The same as for session tokens. */
const ENCRYPTION = 'A256CBC-HS512';

/** A position in a log. */
interface Position {
  /** See `ChangeLog.logId`. */
  readonly logId: string;
  /** Id of the last change that was read. */
  readonly after: number;
}

/**
 * Encrypts positions. A cursor does not reveal how many changes the caller may
 * not see, and two cursors of one position differ.
 */
export class ChangeCursors {
  readonly #keys: SecretKeys;

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  encrypt({ logId, after }: Position): Promise<string> {
    const { id, key } = this.#keys.current;
    // Of fixed length, because encryption does not hide the length.
    const text = `${logId} ${String(after).padStart(16, '0')}`;
    return new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({
        alg: ALGORITHM,
        enc: ENCRYPTION,
        kid: id,
        typ: TYPE,
      })
      .encrypt(key);
  }

  /**
   * Returns the position; `undefined` if this portal did not create the cursor.
   */
  async decrypt(cursor: string): Promise<Position | undefined> {
    try {
      const { plaintext, protectedHeader } = await compactDecrypt(
        cursor,
        ({ kid }) => {
          const key = this.#keys.find(kid ?? '');
          if (!key) {
            throw new errors.JWEDecryptionFailed();
          }
          return key;
        },
        {
          keyManagementAlgorithms: [ALGORITHM],
          contentEncryptionAlgorithms: [ENCRYPTION],
        },
      );
      if (protectedHeader.typ !== TYPE) {
        return undefined;
      }
      const [logId, after] = Buffer.from(plaintext).toString().split(' ');
      return { logId, after: Number(after) };
    } catch (error) {
      if (error instanceof errors.JOSEError) {
        return undefined;
      }
      throw error;
    }
  }
}
