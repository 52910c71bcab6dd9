import {
  REVOCATION_REASONS,
  type RevocationReason,
  type RevokedCertificate,
} from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { readRecord, type Revocation } from '../certificates/CertificateStore';
import {
  AUTHORITIES,
  CERTIFICATES,
  type AuthorityRow,
  type CertificateRow,
} from '../database/rows';

/** The last CRL of a CA and the revocations since. */
export interface RevocationListState {
  /** CRL number; 0 when there is no CRL. */
  readonly number: number;
  /** Validity of the CRL; `undefined` when there is none. */
  readonly current?: { readonly thisUpdate: Date; readonly nextUpdate: Date };
  /** Number of revocations that the CRL does not contain yet. */
  readonly unlisted: number;
  /** Number of all revocations. */
  readonly revocations: number;
}

/** A CRL to be recorded. */
export interface NewRevocationList {
  readonly authorityId: string;
  readonly number: number;
  /** Number of revocations when those of the CRL were read. */
  readonly revocations: number;
  /** DER. */
  readonly list: Buffer;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
}

/** Records of revocations and CRLs. */
export class RevocationStore {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  /**
   * Records a revocation. The first revocation of a certificate is kept.
   *
   * @returns the recorded revocation, `undefined` when there is no such
   *   certificate
   */
  async revoke(options: {
    readonly serialNumber: bigint;
    readonly reason: RevocationReason;
    readonly revokedBy: string;
    readonly revokedAt: Date;
  }): Promise<Revocation | undefined> {
    const key = { serial_number: String(options.serialNumber) };
    return await this.#database.transaction(async transaction => {
      const revoked = await transaction<CertificateRow>(CERTIFICATES)
        .where(key)
        .whereNotNull('certificate')
        .whereNull('revoked_at')
        .update({
          revoked_at: options.revokedAt,
          revocation_reason: REVOCATION_REASONS[options.reason],
          revoked_by: options.revokedBy,
        });
      const row = await transaction<CertificateRow>(CERTIFICATES)
        .where(key)
        .first();
      if (row && revoked === 1) {
        await transaction<AuthorityRow>(AUTHORITIES)
          .where({ id: row.authority_id })
          .increment('revocations');
      }
      return row && readRecord(row).revocation;
    });
  }

  /**
   * Returns the revoked certificates that the next CRL must contain: those that
   * had not expired when the last one was issued (RFC 5280 §3.3).
   */
  async listRevoked(
    authorityId: string,
    options: { readonly notExpiredAt: Date | undefined },
  ): Promise<readonly RevokedCertificate[]> {
    const { notExpiredAt = new Date(0) } = options;
    const rows = await this.#database<CertificateRow>(CERTIFICATES)
      .where({ authority_id: authorityId })
      .whereNotNull('revoked_at')
      .andWhere('not_after', '>=', notExpiredAt)
      .orderBy(['revoked_at', 'serial_number']);
    return rows
      .map(readRecord)
      .flatMap(({ serialNumber, revocation }) =>
        revocation ? { serialNumber, ...revocation } : [],
      );
  }

  async findList(authorityId: string): Promise<RevocationListState> {
    const row = await this.#authorities().where({ id: authorityId }).first();
    return row ? readState(row) : { number: 0, unlisted: 0, revocations: 0 };
  }

  /** Returns the last CRL of the current CA, DER. */
  async findCurrentList(): Promise<Buffer | undefined> {
    const row = await this.#authorities().where({ is_current: true }).first();
    return row?.crl ?? undefined;
  }

  /** @returns false when another CRL has the number already */
  async recordList(list: NewRevocationList): Promise<boolean> {
    const updated = await this.#authorities()
      .where({ id: list.authorityId, crl_number: list.number - 1 })
      .update({
        crl: list.list,
        crl_number: list.number,
        crl_revocations: list.revocations,
        crl_this_update: list.thisUpdate,
        crl_next_update: list.nextUpdate,
      });
    return updated === 1;
  }

  #authorities(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

function readState(row: AuthorityRow): RevocationListState {
  const { crl_this_update: thisUpdate, crl_next_update: nextUpdate } = row;
  return {
    number: row.crl_number,
    ...(thisUpdate !== null &&
      nextUpdate !== null && {
        current: {
          thisUpdate: new Date(thisUpdate),
          nextUpdate: new Date(nextUpdate),
        },
      }),
    unlisted: row.revocations - row.crl_revocations,
    revocations: row.revocations,
  };
}
