import {
  REVOCATION_REASONS,
  type RevocationReason,
  type RevokedCertificate,
} from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { reasonOf } from '../certificates/CertificateStore';
import {
  AUTHORITIES,
  CERTIFICATES,
  type AuthorityRow,
  type CertificateRow,
} from '../database/rows';

/** The last CRL of an issuer and the changes since then. */
export interface RevocationListState {
  /** CRL number; 0 when there is no CRL. */
  readonly number: bigint;
  /** Validity of the CRL; `undefined` when there is none. */
  readonly current?: { readonly thisUpdate: Date; readonly nextUpdate: Date };
  /** Number of changes that the CRL does not contain yet. */
  readonly unlisted: number;
  /** Number of all revocations, holds and releases. */
  readonly changes: number;
}

/** A CRL to be recorded. */
export interface NewRevocationList {
  readonly issuerId: string;
  readonly number: bigint;
  /** CRL number of the last CRL on record. */
  readonly previous: bigint;
  /** Number of changes when the entries of the CRL were read. */
  readonly changes: number;
  /** DER. */
  readonly list: Buffer;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
}

const HOLD = REVOCATION_REASONS.certificateHold;

/**
 * Records of revocations, holds and CRLs. Each change is one conditional update,
 * so that only one of several concurrent changes takes effect, and a revocation is permanent.
 */
export class RevocationStore {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  /**
   * Records a revocation, unless the certificate is revoked. One that replaces a
   * hold keeps the date of the hold, as ITU-T X.509 requires.
   *
   * @returns whether the record changed
   */
  async revoke(options: {
    readonly serialNumber: bigint;
    readonly reason: RevocationReason;
    readonly revokedBy: string;
    readonly revokedAt: Date;
  }): Promise<boolean> {
    return await this.#change(options.serialNumber, certificates =>
      certificates()
        .where(either =>
          either.whereNull('revoked_at').orWhere('revocation_reason', HOLD),
        )
        .update({
          revoked_at: this.#database.raw('coalesce(revoked_at, ?)', [
            options.revokedAt,
          ]),
          revocation_reason: REVOCATION_REASONS[options.reason],
          revoked_by: options.revokedBy,
        }),
    );
  }

  /**
   * Records a hold, unless the certificate is revoked or on hold.
   *
   * @returns whether the record changed
   */
  async hold(options: {
    readonly serialNumber: bigint;
    readonly heldBy: string;
    readonly heldAt: Date;
  }): Promise<boolean> {
    return await this.#change(options.serialNumber, certificates =>
      certificates().whereNull('revoked_at').update({
        revoked_at: options.heldAt,
        revocation_reason: HOLD,
        revoked_by: options.heldBy,
      }),
    );
  }

  /**
   * Ends a hold.
   *
   * @returns whether the certificate was on hold
   */
  async release(serialNumber: bigint): Promise<boolean> {
    return await this.#change(serialNumber, certificates =>
      certificates().where({ revocation_reason: HOLD }).update({
        revoked_at: null,
        revocation_reason: null,
        revoked_by: null,
      }),
    );
  }

  /**
   * Returns the entries that the next CRL of an issuer must contain: those that
   * had not expired when the last one was issued (RFC 5280 §3.3).
   */
  async listRevoked(
    issuerId: string,
    options: { readonly notExpiredAt: Date | undefined },
  ): Promise<readonly RevokedCertificate[]> {
    const { notExpiredAt = new Date(0) } = options;
    const rows = await this.#database<CertificateRow>(CERTIFICATES)
      .where({ authority_id: issuerId })
      .whereNotNull('revoked_at')
      .andWhere('not_after', '>=', notExpiredAt)
      .orderBy(['revoked_at', 'serial_number'])
      // Does not read the certificates: there may be thousands.
      .select('serial_number', 'revoked_at', 'revocation_reason');
    return rows.flatMap(row =>
      row.revoked_at === null
        ? []
        : {
            serialNumber: BigInt(row.serial_number),
            revokedAt: new Date(row.revoked_at),
            reason: reasonOf(row.revocation_reason),
          },
    );
  }

  async findList(issuerId: string): Promise<RevocationListState> {
    const row = await this.#authorities()
      .where({ id: issuerId })
      .select(
        'crl_number',
        'crl_this_update',
        'crl_next_update',
        'changes',
        'crl_changes',
      )
      .first();
    return row ? readState(row) : { number: 0n, unlisted: 0, changes: 0 };
  }

  /** Whether an issuer has certificates that have not expired. */
  async hasValid(issuerId: string): Promise<boolean> {
    const row = await this.#database<CertificateRow>(CERTIFICATES)
      .where({ authority_id: issuerId })
      .where('not_after', '>=', new Date())
      .first('serial_number');
    return row !== undefined;
  }

  /** Returns the last CRL of an issuer, DER. */
  async readList(issuerId: string): Promise<Buffer | undefined> {
    const row = await this.#authorities()
      .where({ id: issuerId })
      .select('crl')
      .first();
    return row?.crl ?? undefined;
  }

  /** @returns false when a concurrent process recorded a CRL first */
  async recordList(list: NewRevocationList): Promise<boolean> {
    const updated = await this.#authorities()
      .where({ id: list.issuerId, crl_number: String(list.previous) })
      .update({
        crl: list.list,
        crl_number: String(list.number),
        crl_changes: list.changes,
        crl_this_update: list.thisUpdate,
        crl_next_update: list.nextUpdate,
      });
    return updated === 1;
  }

  /** Changes one certificate, and counts the change for the next CRL. */
  async #change(
    serialNumber: bigint,
    update: (
      certificates: () => Knex.QueryBuilder<CertificateRow>,
    ) => Promise<number>,
  ): Promise<boolean> {
    const key = { serial_number: String(serialNumber) };
    return await this.#database.transaction(async transaction => {
      const certificates = () =>
        transaction<CertificateRow>(CERTIFICATES)
          .where(key)
          .whereNotNull('certificate');
      if ((await update(certificates)) === 0) {
        return false;
      }
      await transaction<AuthorityRow>(AUTHORITIES)
        .whereIn('id', certificates().select('authority_id'))
        .increment('changes');
      return true;
    });
  }

  #authorities(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

function readState(
  row: Pick<
    AuthorityRow,
    | 'crl_number'
    | 'crl_this_update'
    | 'crl_next_update'
    | 'changes'
    | 'crl_changes'
  >,
): RevocationListState {
  const { crl_this_update: thisUpdate, crl_next_update: nextUpdate } = row;
  return {
    number: BigInt(row.crl_number),
    ...(thisUpdate !== null &&
      nextUpdate !== null && {
        current: {
          thisUpdate: new Date(thisUpdate),
          nextUpdate: new Date(nextUpdate),
        },
      }),
    unlisted: row.changes - row.crl_changes,
    changes: row.changes,
  };
}
