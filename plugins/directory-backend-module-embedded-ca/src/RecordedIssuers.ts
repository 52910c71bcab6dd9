import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { readPemBlocks, writePem } from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { X509Certificate } from 'node:crypto';
import { type CaIssuer, nameOf } from './CaIssuer';

/** Table of the issuers; the migration describes the columns. */
export const AUTHORITIES = 'embedded_ca_authorities';

/** The last CRL of an issuer. */
export interface RecordedCrl {
  readonly number: bigint;
  readonly nextUpdate: Date;
  /** DER. */
  readonly crl: Buffer;
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
    const pem = chain.map(der => writePem('CERTIFICATE', der)).join('');
    await this.#database(AUTHORITIES)
      .insert({ id, chain: pem, created_at: new Date() })
      .onConflict('id')
      .ignore();
    const recorded = await this.#database(AUTHORITIES).where({ id }).first();
    const [subject, previous] = [pem, recorded.chain].map(
      text => new X509Certificate(certificateIn(text)).subject,
    );
    if (subject !== previous) {
      throw new Error(
        `The subject of the certificate of CA ${id} differs from the one on record`,
      );
    }
    await this.#database(AUTHORITIES).where({ id }).update({ chain: pem });
  }

  /**
   * Returns the ID and the certificate (DER) of an issuer by its name in URLs.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async find(
    name: string,
  ): Promise<
    { readonly id: string; readonly certificate: Buffer } | undefined
  > {
    const rows: { id: string; chain: string }[] = await available(async () =>
      this.#database(AUTHORITIES).select('id', 'chain'),
    );
    const row = rows.find(({ id }) => nameOf(id) === name);
    return row && { id: row.id, certificate: certificateIn(row.chain) };
  }

  /**
   * Returns the last CRL of an issuer.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async findCrl(id: string): Promise<RecordedCrl | undefined> {
    const row = await available(async () =>
      this.#database(AUTHORITIES).where({ id }).whereNotNull('crl').first(),
    );
    return (
      row && {
        number: BigInt(row.crl_number),
        nextUpdate: new Date(row.crl_next_update),
        crl: row.crl,
      }
    );
  }

  /**
   * Records a CRL.
   *
   * @param crl - `previous`: number of the last CRL on record; 0 without one
   * @returns false when another process has recorded a CRL in the meantime
   */
  async recordCrl(
    id: string,
    crl: RecordedCrl & { readonly thisUpdate: Date; readonly previous: bigint },
  ): Promise<boolean> {
    const updated = await this.#database(AUTHORITIES)
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
}

/** Returns the first certificate of a chain, DER. */
function certificateIn(chain: string): Buffer {
  return readPemBlocks(chain, { label: 'CERTIFICATE' })[0];
}

async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}
