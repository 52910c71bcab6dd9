import type {
  Database,
  Revocation,
  RevocationRecords,
  RevokedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import { randomUUID } from 'node:crypto';
import { orUnavailable } from './orUnavailable';
import { type CertificateRow, RECORDS } from './CertificateRecords';

/** Reason code of a certificate on hold (RFC 5280 §5.3.1). */
export const ON_HOLD = REVOCATION_REASONS.certificateHold;

/** Table of the embedded CA of 0.2.0, and its columns for a revocation. */
export const EMBEDDED_CERTIFICATES = 'embedded_ca_certificates';

/**
 * Revocations and holds in the table of certificates. Each change is one
 * conditional update, so that only one of several concurrent changes takes
 * effect, and a revocation is permanent. It also changes the tables of 0.2.0, so
 * that a portal that goes back to it publishes the same revocations.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class RevocationTable implements RevocationRecords {
  readonly #database: Database;
  /** Registered name of the CA of certificates that have no other record. */
  readonly #authority: string;
  #hasEmbeddedTable: boolean | undefined;

  constructor(options: {
    readonly database: Database;
    readonly authority: string;
  }) {
    this.#database = options.database;
    this.#authority = options.authority;
  }

  findIssuer: RevocationRecords['findIssuer'] = async serialNumber => {
    const row = await orUnavailable(() =>
      this.#table()
        .where({ serial_number: String(serialNumber) })
        .whereNotNull('issuer')
        .first('issuer'),
    );
    return row?.issuer ?? undefined;
  };

  set: RevocationRecords['set'] = async (serialNumber, revocation) => {
    const serial_number = String(serialNumber);
    return await orUnavailable(async () => {
      await this.update({ serial_number }, revocation);
      const row = await this.#table()
        .where({ serial_number })
        .orderBy('reserved_at', 'desc')
        .first();
      // The issuer of a certificate that was not recorded is the latest one.
      const issuer =
        row?.issuer ??
        (row &&
          (
            await this.#table()
              .where({ authority: row.authority })
              .whereNotNull('issuer')
              .orderBy('recorded_at', 'desc')
              .first('issuer')
          )?.issuer);
      if (!row || !issuer) {
        return undefined;
      }
      if (row.issuer === null) {
        await this.#table().where({ id: row.id }).update({ issuer });
      }
      return { issuer, revocation: revokedOf(row) };
    });
  };

  list: RevocationRecords['list'] = async (issuer, { notExpiredAt }) => {
    // Does not read the certificates: there may be thousands.
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ issuer })
        .whereNotNull('revoked_at')
        .where(unexpired =>
          unexpired
            .whereNull('not_after')
            .orWhere('not_after', '>=', notExpiredAt),
        )
        .orderBy(['revoked_at', 'serial_number'])
        .select('serial_number', 'reason', 'revoked_at'),
    );
    return rows.flatMap(row => revokedOf(row) ?? []);
  };

  import: RevocationRecords['import'] = async (issuer, revoked) => {
    const listed = await this.list(issuer, { notExpiredAt: new Date(0) });
    const known = new Map(
      listed.map(each => [each.serialNumber, each.reason === ON_HOLD]),
    );
    const missing = revoked.filter(({ serialNumber, reason }) => {
      const isHeld = known.get(serialNumber);
      return isHeld === undefined || (isHeld && reason !== ON_HOLD);
    });
    for (const { serialNumber, ...revocation } of missing) {
      const serial_number = String(serialNumber);
      await orUnavailable(async () => {
        const rows = await this.#table()
          .where({ serial_number })
          .where(own => own.where({ issuer }).orWhereNull('issuer'))
          .update({ issuer })
          .returning('id');
        if (rows.length > 0) {
          await this.update({ serial_number }, revocation);
          return;
        }
        const reserved_at = new Date();
        await this.#table()
          .insert({
            id: randomUUID(),
            authority: this.#authority,
            serial_number,
            issuer,
            state: revocation.reason === ON_HOLD ? 'held' : 'revoked',
            reason: revocation.reason,
            revoked_at: revocation.revokedAt,
            reserved_at,
            is_renewed_by_key: false,
          })
          .onConflict()
          .ignore();
      });
    }
    return missing.length;
  };

  /**
   * Records the state of a certificate as the CA has returned it; `undefined`
   * ends a hold. A permanent revocation does not change.
   *
   * @param certificate - serial number, with the CA unless all CAs of this
   *   gateway have different ones
   */
  async update(
    certificate: {
      readonly serial_number: string;
      readonly authority?: string;
    },
    revocation: Revocation | undefined,
    revokedBy?: string,
  ): Promise<void> {
    const { serial_number } = certificate;
    const { revoked_at, ...change } = columnsOf(revocation);
    const hasEmbeddedTable = await this.#hasEmbedded();
    await orUnavailable(() =>
      this.#database.transaction(async transaction => {
        // A revocation keeps the date of the hold (ITU-T X.509).
        const date =
          revoked_at &&
          transaction.raw('coalesce(revoked_at, ?)', [revoked_at]);
        const changed = await transaction<CertificateRow>(RECORDS)
          .where(certificate)
          .whereIn('state', statesBefore(revocation))
          .update({ ...change, revoked_at: date, revoked_by: null });
        if (changed > 0 && hasEmbeddedTable) {
          await transaction(EMBEDDED_CERTIFICATES)
            .where({ serial_number })
            // 0.2.0 may have revoked it since the last import.
            .where(own =>
              own
                .whereNull('revocation_reason')
                .orWhere({ revocation_reason: ON_HOLD }),
            )
            .update({ revocation_reason: change.reason, revoked_at: date });
        }
        // A CA with these records has not named the caller.
        await (revokedBy &&
          transaction<CertificateRow>(RECORDS)
            .where({ ...certificate, state: change.state, revoked_by: null })
            .update({ revoked_by: revokedBy }));
      }),
    );
  }

  async #hasEmbedded(): Promise<boolean> {
    this.#hasEmbeddedTable ??= await orUnavailable(() =>
      this.#database.schema.hasTable(EMBEDDED_CERTIFICATES),
    );
    return this.#hasEmbeddedTable;
  }

  #table() {
    return this.#database<CertificateRow>(RECORDS);
  }
}

function columnsOf(revocation: Revocation | undefined) {
  if (!revocation) {
    return { state: 'valid', reason: null, revoked_at: null } as const;
  }
  const { reason, revokedAt = new Date() } = revocation;
  const state = reason === ON_HOLD ? 'held' : 'revoked';
  return { state, reason, revoked_at: revokedAt } as const;
}

/** Returns the states that a change may end: a revocation is permanent. */
function statesBefore(
  revocation: Revocation | undefined,
): readonly CertificateRow['state'][] {
  if (!revocation) {
    return ['held'];
  }
  return revocation.reason === ON_HOLD
    ? ['valid']
    : ['reserved', 'valid', 'held'];
}

function revokedOf(
  row: Pick<CertificateRow, 'serial_number' | 'reason' | 'revoked_at'>,
): RevokedCertificate | undefined {
  return row.revoked_at === null
    ? undefined
    : {
        serialNumber: BigInt(row.serial_number!),
        reason: row.reason ?? 0,
        revokedAt: new Date(row.revoked_at),
      };
}
