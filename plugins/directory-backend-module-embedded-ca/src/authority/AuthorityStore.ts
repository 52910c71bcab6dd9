import type { Knex } from 'knex';
import { readPemBlocks, writePem } from '@directory-gateway/x509';
import { AUTHORITIES, type AuthorityRow } from '../database/rows';
import { readFile } from 'node:fs/promises';
import { UnusableKeyError } from './KeyFile';

/** An authority on record. */
export interface AuthorityRecord {
  /** SHA-256 of its public key, a SubjectPublicKeyInfo; lower-case hex. */
  readonly id: string;
  /** Its certificate and those above it, DER. */
  readonly chain: readonly Buffer[];
}

/** The record of authorities. Only one of them is current: the one that signs. */
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
   * Records an authority as the current one, unless there is one.
   *
   * @returns the current one, be it this or another
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
        `The authority ${authority.id} has been retired: it cannot be the current one again`,
      );
    }
    return current;
  }

  /** Records that an authority's certificate was renewed with the same key. */
  async replaceChain({ id, chain }: AuthorityRecord): Promise<void> {
    await this.#table()
      .where({ id })
      .update({ chain: writeChain(chain) });
  }

  #table(): Knex.QueryBuilder<AuthorityRow> {
    return this.#database<AuthorityRow>(AUTHORITIES);
  }
}

/** Reads the certificates of an authority and of those above it. */
export function readChain(pem: string): Buffer[] {
  return readPemBlocks(pem, { label: 'CERTIFICATE' });
}

function writeChain(chain: readonly Buffer[]): string {
  return chain.map(der => writePem('CERTIFICATE', der)).join('');
}

/**
 * Reads the certificate of an authority and those above it, PEM.
 *
 * @returns DER
 * @throws UnusableKeyError when the file is not there, or damaged.
 */
export async function readChainFile(path: string): Promise<readonly Buffer[]> {
  try {
    return readChain(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UnusableKeyError(`${path} cannot be read`, error);
  }
}
