import {
  readPemBlocks,
  REVOCATION_REASONS,
  writePem,
} from '@directory-gateway/x509';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import type { Knex } from 'knex';
import { X509Certificate } from 'node:crypto';
import { type CaIssuer, nameOf } from './CaIssuer';

export const AUTHORITIES = 'embedded_ca_authorities';

/** Certificates that 0.2 issued. */
const OLD_CERTIFICATES = 'embedded_ca_certificates';

/** The last CRL of an issuer. */
export interface RecordedCrl {
  readonly number: bigint;
  readonly nextUpdate: Date;
  /** DER. */
  readonly crl: Buffer;
}

/** A CRL to be recorded. */
export interface NewCrl extends RecordedCrl {
  readonly thisUpdate: Date;
  /** Number of the last CRL on record; 0 if there is none. */
  readonly previous: bigint;
}

/** PostgreSQL returns a Date, SQLite milliseconds since 1970. */
type Timestamp = Date | number;

/** A row of the table of issuers; the migration describes the columns. */
interface AuthorityRow {
  id: string;
  chain: string;
  created_at: Timestamp;
  changes: number;
  crl: Buffer | null;
  crl_number: string;
  crl_changes: number;
  crl_this_update: Timestamp | null;
  crl_next_update: Timestamp | null;
}

/**
 * Database records of all issuers that have ever signed, with their last CRLs.
 * Several processes use the same records.
 */
export class RecordedIssuers {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  /**
   * Records an issuer, or the new chain of its key: a renewed certificate, or
   * one of another root.
   *
   * @throws Error when the certificate's subject differs from the recorded one,
   *   which issued certificates contain.
   */
  async record({ id, chain }: CaIssuer): Promise<void> {
    const row = {
      chain: chain.map(der => writePem('CERTIFICATE', der)).join(''),
    };
    await this.#authorities()
      .insert({ id, ...row, created_at: new Date() })
      .onConflict('id')
      .ignore();
    const recorded = await this.#authorities().where({ id }).first('chain');
    if (recorded && subjectOf(recorded.chain) !== subjectOf(row.chain)) {
      throw new Error(
        `The subject of the certificate of CA ${id} differs from the one on record`,
      );
    }
    await this.#authorities().where({ id }).update(row);
  }

  /**
   * Returns the certificate (DER) and the ID of an issuer by its name in URLs.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async find(
    name: string,
  ): Promise<
    { readonly id: string; readonly certificate: Buffer } | undefined
  > {
    const rows: Pick<AuthorityRow, 'id' | 'chain'>[] = await available(
      async () => this.#authorities().select('id', 'chain'),
    );
    const row = rows.find(({ id }) => nameOf(id) === name);
    return row && { id: row.id, certificate: ownCertificate(row.chain) };
  }

  /**
   * Returns the last CRL of an issuer.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async findCrl(id: string): Promise<RecordedCrl | undefined> {
    const row = await available(async () =>
      this.#authorities().where({ id }).first(),
    );
    return row?.crl
      ? {
          number: BigInt(row.crl_number),
          nextUpdate: new Date(row.crl_next_update ?? 0),
          crl: row.crl,
        }
      : undefined;
  }

  /** @returns false when a concurrent process recorded a CRL first */
  async recordCrl(id: string, crl: NewCrl): Promise<boolean> {
    const updated = await this.#authorities()
      .where({ id, crl_number: String(crl.previous) })
      .update({
        crl: crl.crl,
        crl_number: String(crl.number),
        // 0.2 counts changes that its CRL does not contain.
        crl_changes: this.#database.raw('changes'),
        crl_this_update: crl.thisUpdate,
        crl_next_update: crl.nextUpdate,
      });
    return updated === 1;
  }

  /**
   * Repeats a revocation, a hold or the end of a hold in the record of a
   * certificate that 0.2 issued, so that the certificate does not become valid
   * when a site goes back to 0.2.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async updateOldRow(
    serialNumber: bigint,
    revocation:
      | {
          readonly reason: number;
          readonly revokedAt: Date;
          readonly by: string;
        }
      | undefined,
  ): Promise<void> {
    const row = this.#database(OLD_CERTIFICATES)
      .where({ serial_number: String(serialNumber) })
      .where(state => {
        state.where({ revocation_reason: REVOCATION_REASONS.certificateHold });
        return revocation ? state.orWhereNull('revoked_at') : state;
      });
    await available(async () =>
      row.update({
        revoked_at: revocation
          ? this.#database.raw('coalesce(revoked_at, ?)', [
              revocation.revokedAt,
            ])
          : null,
        revocation_reason: revocation?.reason ?? null,
        revoked_by: revocation?.by ?? null,
      }),
    );
  }

  #authorities(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

function ownCertificate(chain: string): Buffer {
  return readPemBlocks(chain, { label: 'CERTIFICATE' })[0];
}

function subjectOf(chain: string): string {
  return new X509Certificate(ownCertificate(chain)).subject;
}

async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}
