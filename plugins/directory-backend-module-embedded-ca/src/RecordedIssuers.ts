import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import {
  readPemBlocks,
  type RevocationListFields,
  writePem,
} from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { X509Certificate } from 'node:crypto';
import { type CaIssuer, nameOf } from './CaIssuer';

/** Table of the issuers; the migration describes the columns. */
export const AUTHORITIES = 'embedded_ca_authorities';

/** Minimum interval of queries for unknown names, in milliseconds. */
const REFRESH_MS = 1000;

/** The last CRL of an issuer. */
export interface RecordedCrl {
  readonly number: bigint;
  /** DER. */
  readonly crl: Buffer;
}

/**
 * Database records of all issuers that have ever signed, with their last CRLs.
 * Several processes use the same records.
 */
export class RecordedIssuers {
  readonly #database: Knex;
  /** IDs of issuers by name. */
  #ids: ReadonlyMap<string, string> = new Map();
  #refreshedAt = -Infinity;
  /** Query that has not ended, which concurrent callers share. */
  #refreshing: Promise<void> | undefined;

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
   * Returns the certificate (DER) and the last CRL of an issuer.
   *
   * @param name - name of the issuer in URLs; it may come from a client, so that
   *   other names cause at most one query a second
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async find(
    name: string,
  ): Promise<
    { readonly certificate: Buffer; readonly crl?: RecordedCrl } | undefined
  > {
    try {
      if (!this.#ids.has(name)) {
        await this.#refresh();
      }
      const id = this.#ids.get(name);
      const row =
        id === undefined
          ? undefined
          : await this.#database(AUTHORITIES).where({ id }).first();
      return (
        row && {
          certificate: certificateIn(row.chain),
          crl: row.crl && { number: BigInt(row.crl_number), crl: row.crl },
        }
      );
    } catch (error) {
      throw new AuthorityUnavailableError('The database is unavailable', error);
    }
  }

  /** Reads the names of the issuers, unless that was done a second ago. */
  async #refresh(): Promise<void> {
    if (performance.now() - this.#refreshedAt >= REFRESH_MS) {
      this.#refreshing ??= this.#readNames().finally(() => {
        this.#refreshing = undefined;
      });
      await this.#refreshing;
    }
  }

  async #readNames(): Promise<void> {
    const ids: readonly string[] =
      await this.#database(AUTHORITIES).pluck('id');
    this.#ids = new Map(ids.map(id => [nameOf(id), id]));
    this.#refreshedAt = performance.now();
  }

  /**
   * Records a CRL.
   *
   * @param previous - number of the last CRL on record; 0 without one
   * @returns false when another process has recorded a CRL in the meantime
   */
  async recordCrl(
    id: string,
    previous: bigint,
    crl: RecordedCrl & RevocationListFields,
  ): Promise<boolean> {
    const updated = await this.#database(AUTHORITIES)
      .where({ id, crl_number: String(previous) })
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
