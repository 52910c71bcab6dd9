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

/** Registered name of the embedded CA. */
export const EMBEDDED = 'embedded';

/** Table of the embedded CA of 0.2.0, and its columns for a revocation. */
export const EMBEDDED_CERTIFICATES = 'embedded_ca_certificates';

/** A certificate: several CAs may use the same serial number. */
export interface CertificateKey {
  /** Registered name of the CA. */
  readonly authority: string;
  readonly serialNumber: bigint;
}

/**
 * Revocations and holds in the table of certificates. Each change is one
 * conditional update, so that only one of several concurrent changes takes
 * effect, and a revocation is permanent. It also changes the tables of 0.2.0, so
 * that a portal that goes back to it publishes the same revocations.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class RevocationTable {
  readonly #database: Database;
  #hasEmbeddedTable: boolean | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the records of a CA, by its registered name. */
  of(authority: string): RevocationRecords {
    return {
      findIssuer: serialNumber => this.#findIssuer({ authority, serialNumber }),
      set: (serialNumber, issuer, revocation) =>
        this.#set({ authority, serialNumber }, issuer, revocation),
      list: (issuer, { notExpiredAt }) =>
        this.#list({ authority, issuer }, notExpiredAt),
      import: async (issuer, revoked) => {
        const listed = await this.#list({ authority, issuer }, new Date(0));
        const known = new Map(
          listed.map(each => [each.serialNumber, each.reason === ON_HOLD]),
        );
        const missing = revoked.filter(({ serialNumber, reason }) => {
          const isHeld = known.get(serialNumber);
          return isHeld === undefined || (isHeld && reason !== ON_HOLD);
        });
        for (const { serialNumber, ...revocation } of missing) {
          const certificate = { authority, serialNumber };
          await this.#reserve(certificate);
          await this.#set(certificate, issuer, revocation);
        }
        return missing.length;
      },
    };
  }

  /**
   * Records the state of a certificate as the CA has returned it; `undefined`
   * ends a hold. A permanent revocation does not change.
   *
   * @returns the state afterwards; `undefined` also when it is not on record
   */
  async update(
    certificate: CertificateKey,
    revocation: Revocation | undefined,
    revokedBy?: string,
  ): Promise<RevokedCertificate | undefined> {
    const { revoked_at, ...change } = columnsOf(revocation);
    const key = keyOf(certificate);
    const isInOldTable =
      key.authority === EMBEDDED && (await this.#hasEmbedded());
    return await orUnavailable(() =>
      this.#database.transaction(async transaction => {
        const row = () => transaction<CertificateRow>(RECORDS).where(key);
        // A revocation keeps the date of the hold (ITU-T X.509).
        const date =
          revoked_at &&
          transaction.raw('coalesce(revoked_at, ?)', [revoked_at]);
        const changed = await row()
          .whereIn('state', statesBefore(revocation))
          .update({ ...change, revoked_at: date, revoked_by: null });
        if (changed > 0 && isInOldTable) {
          await transaction(EMBEDDED_CERTIFICATES)
            .where({ serial_number: key.serial_number })
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
          row()
            .where({ state: change.state, revoked_by: null })
            .update({ revoked_by: revokedBy }));
        const recorded = await row().first(
          'serial_number',
          'reason',
          'revoked_at',
        );
        return recorded && revokedOf(recorded);
      }),
    );
  }

  async #findIssuer(
    certificate: CertificateKey,
  ): Promise<{ readonly issuer?: string } | undefined> {
    const row = await orUnavailable(() =>
      this.#table().where(keyOf(certificate)).first('issuer'),
    );
    return row && { issuer: row.issuer ?? undefined };
  }

  async #set(
    certificate: CertificateKey,
    issuer: string,
    revocation: Revocation | undefined,
  ): Promise<RevokedCertificate | undefined> {
    // A certificate that was not recorded is in the CRL of this issuer.
    await orUnavailable(() =>
      this.#table()
        .where(keyOf(certificate))
        .whereNull('issuer')
        .update({ issuer }),
    );
    return await this.update(certificate, revocation);
  }

  async #list(
    issuer: { readonly authority: string; readonly issuer: string },
    notExpiredAt: Date,
  ): Promise<readonly RevokedCertificate[]> {
    // Does not read the certificates: there may be thousands.
    const rows = await orUnavailable(() =>
      this.#table()
        .where(issuer)
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
  }

  /** Adds a certificate of which only the revocation is known. */
  async #reserve(certificate: CertificateKey): Promise<void> {
    await orUnavailable(() =>
      this.#table()
        .insert({
          ...keyOf(certificate),
          id: randomUUID(),
          state: 'reserved',
          reserved_at: new Date(),
        })
        .onConflict()
        .ignore(),
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

function keyOf({ authority, serialNumber }: CertificateKey) {
  return { authority, serial_number: String(serialNumber) };
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
    ? ['reserved', 'valid']
    : ['reserved', 'abandoned', 'valid', 'held'];
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
