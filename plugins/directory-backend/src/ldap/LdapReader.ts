import type { Entry } from 'ldapts';
import type { DirectoryUnavailableError } from '../directory/errors';
import type { LdapSearch } from './connection/LdapConnection';
import type { LdapAnswer, LdapSearcher } from './connection/LdapPool';
import type { RightsProof } from './AccessVerifier';

/** Who waits for an answer. */
export interface Asking {
  readonly signal: AbortSignal;
}

/** For searches that no caller aborts. */
export const NEVER_ABORTED: Asking = { signal: new AbortController().signal };

/** Reads the directory, and nothing before its account's rights are proven. */
export class LdapReader {
  readonly #searcher: LdapSearcher;
  readonly #proof: RightsProof;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly proof: RightsProof;
  }) {
    this.#searcher = options.searcher;
    this.#proof = options.proof;
  }

  /** Every entry that a search finds, with the server that found them. */
  async search(search: LdapSearch, asking: Asking): Promise<LdapAnswer> {
    await this.#proof.require(asking);
    return this.#searcher.search(search, asking);
  }

  /**
   * Proves the account's rights once more.
   *
   * @throws DirectoryUnavailableError when one is missing.
   */
  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  /** As the method of `RightsProof`. */
  onAccessCheckFailed(listener: (message: string) => void): void {
    this.#proof.onFailed(listener);
  }

  /** As the method of `RightsProof`. */
  failAccessCheck(message: string): DirectoryUnavailableError {
    return this.#proof.fail(message);
  }

  /** Every entry that a search finds. */
  async read(search: LdapSearch, asking: Asking): Promise<readonly Entry[]> {
    const { entries } = await this.search(search, asking);
    return entries;
  }
}
