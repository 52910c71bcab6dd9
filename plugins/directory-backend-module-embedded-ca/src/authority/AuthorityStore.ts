import { readPemBlocks, writePem } from '@directory-gateway/x509';
import type { Knex } from 'knex';
import { readFile } from 'node:fs/promises';
import { AUTHORITIES, type AuthorityRow } from '../database/rows';
import { UnusableKeyError } from './KeyFile';

/** The record of a CA. */
export interface AuthorityRecord {
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly id: string;
  /** The CA's certificate and its issuers, DER. */
  readonly chain: readonly Buffer[];
}

/** Records of CAs. At most one of them is current. */
export class AuthorityStore {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  async findCurrent(): Promise<AuthorityRecord | undefined> {
    const row = await this.#table().where({ is_current: true }).first();
    return row && { id: row.id, chain: readChain(row.chain) };
  }

  /**
   * Records a CA as the current one, unless there is a current one.
   *
   * @returns the current CA
   */
  async recordFirst(authority: AuthorityRecord): Promise<AuthorityRecord> {
    await this.#table()
      .insert({
        id: authority.id,
        is_current: true,
        chain: writeChain(authority.chain),
        created_at: new Date(),
      })
      .onConflict()
      .ignore();
    const current = await this.findCurrent();
    if (!current) {
      throw new Error(
        `CA ${authority.id} was replaced and cannot become the current one again`,
      );
    }
    return current;
  }

  /** Records a renewed certificate of the same key. */
  async replaceChain({ id, chain }: AuthorityRecord): Promise<void> {
    await this.#table()
      .where({ id })
      .update({ chain: writeChain(chain) });
  }

  #table(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

/** Parses the PEM chain of a CA. */
export function readChain(pem: string): Buffer[] {
  return readPemBlocks(pem, { label: 'CERTIFICATE' });
}

function writeChain(chain: readonly Buffer[]): string {
  return chain.map(der => writePem('CERTIFICATE', der)).join('');
}

/**
 * Reads a PEM file with the CA's certificate and its issuers.
 *
 * @returns DER
 * @throws UnusableKeyError when the file cannot be read or parsed.
 */
export async function readChainFile(path: string): Promise<readonly Buffer[]> {
  try {
    return readChain(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UnusableKeyError(`${path} cannot be read`, error);
  }
}
