import {
  AuthorityProtocolError,
  type Database,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Certificate } from '@directory-gateway/x509';
import { orUnavailable } from './records/certificateRows';

const TABLE = 'directory_blocked_keys';

/**
 * Public keys that are never certified again, for any user, profile or CA: the
 * keys of certificates that were revoked for `keyCompromise`. They are stored
 * in the database, so they are blocked in all Backstage instances immediately.
 */
export class BlockedKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Blocks the key of a certificate permanently.
   *
   * @returns SHA-256 of the SubjectPublicKeyInfo, lower-case hex
   * @throws AuthorityProtocolError when the certificate cannot be read.
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async block(
    { description }: Certificate,
    options: { readonly blockedBy: string },
  ): Promise<string> {
    if (!description.ok) {
      throw new AuthorityProtocolError(
        'The key of an unreadable certificate cannot be blocked',
      );
    }
    const { publicKey, serialNumber } = description.certificate;
    await orUnavailable(() =>
      this.#database(TABLE)
        .insert({
          public_key_sha256: publicKey.sha256,
          serial_number: String(serialNumber),
          blocked_by: options.blockedBy,
          blocked_at: new Date(),
        })
        .onConflict()
        .ignore(),
    );
    return publicKey.sha256;
  }

  /**
   * Returns whether a key is blocked.
   *
   * @param keyHash - SHA-256 of the SubjectPublicKeyInfo, lower-case hex
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async has(keyHash: string): Promise<boolean> {
    const row = await orUnavailable(() =>
      this.#database(TABLE).where({ public_key_sha256: keyHash }).first(),
    );
    return row !== undefined;
  }
}
