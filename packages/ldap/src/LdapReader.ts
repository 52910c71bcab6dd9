import type { Entry } from 'ldapts';
import { AccessVerifier, type AccessVerifierOptions } from './AccessVerifier';
import type { LdapSearch } from './connection/LdapConnection';
import type { LdapSearcher, LdapSearchResult } from './connection/LdapPool';
import { SchemaVerifier } from './SchemaVerifier';

/** Reads the directory after the access check of the service account. */
export class LdapReader {
  readonly schemaVerifier: SchemaVerifier;
  readonly accessVerifier: AccessVerifier;
  /** DN of the service account. */
  readonly bindDn: string;
  readonly #searcher: LdapSearcher;

  constructor(options: Omit<AccessVerifierOptions, 'schemaVerifier'>) {
    this.bindDn = options.bindDn;
    const schemaVerifier = new SchemaVerifier(options);
    this.schemaVerifier = schemaVerifier;
    this.accessVerifier = new AccessVerifier({ ...options, schemaVerifier });
    this.#searcher = options.searcher;
  }

  /** Returns all entries that a search finds, and the server. */
  async search(search: LdapSearch): Promise<LdapSearchResult> {
    await this.accessVerifier.require();
    return this.#searcher.search(search);
  }

  /** Returns all entries that a search finds. */
  async read(search: LdapSearch): Promise<readonly Entry[]> {
    const { entries } = await this.search(search);
    return entries;
  }
}
