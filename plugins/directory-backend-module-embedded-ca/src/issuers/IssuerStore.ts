import { readPemBlocks, writePem } from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { X509Certificate } from 'node:crypto';
import { AUTHORITIES, type AuthorityRow } from '../database/rows';

/** The record of an issuer. */
export interface IssuerRecord {
  /** SHA-256 of the SubjectPublicKeyInfo, lowercase hex. */
  readonly id: string;
  /** The issuer's certificate and its issuers, DER. */
  readonly chain: readonly Buffer[];
}

/** Records of all issuers that have ever signed. */
export class IssuerStore {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  async list(): Promise<readonly IssuerRecord[]> {
    const rows: Pick<AuthorityRow, 'id' | 'chain'>[] = await this.#table()
      .select('id', 'chain')
      .orderBy('id');
    return rows.map(({ id, chain }) => ({ id, chain: readChain(chain) }));
  }

  /**
   * Records an issuer, or the new chain of its key: a renewed certificate, or
   * one of another root.
   *
   * @throws Error when the certificate's subject differs from the recorded one,
   *   which issued certificates contain.
   */
  async record({ id, chain }: IssuerRecord): Promise<void> {
    const inserted = await this.#table()
      .insert({ id, chain: writeChain(chain), created_at: new Date() })
      .onConflict()
      .ignore()
      .returning('id');
    if (inserted.length > 0) {
      return;
    }
    const recorded = await this.#table().where({ id }).first();
    if (recorded) {
      const [own] = readChain(recorded.chain);
      if (subjectOf(own) !== subjectOf(chain[0])) {
        throw new Error(
          `The subject of the certificate of CA ${id} differs from the one on record`,
        );
      }
      await this.#table()
        .where({ id })
        .update({ chain: writeChain(chain) });
    }
  }

  #table(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

/** Parses the recorded chain of an issuer. */
export function readChain(pem: string): Buffer[] {
  return readPemBlocks(pem, { label: 'CERTIFICATE' });
}

function writeChain(chain: readonly Buffer[]): string {
  return chain.map(der => writePem('CERTIFICATE', der)).join('');
}

function subjectOf(certificate: Buffer): string {
  return new X509Certificate(certificate).subject;
}
