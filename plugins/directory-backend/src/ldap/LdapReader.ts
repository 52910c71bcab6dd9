import type { Entry } from 'ldapts';
import type { DirectoryUnavailableError } from '../directory/errors';
import type { LdapSearch } from './connection/LdapConnection';
import type { LdapSearchResult, LdapSearcher } from './connection/LdapPool';
import type { AccessVerifier } from './AccessVerifier';

/** Who waits for an answer. */
export interface RequestContext {
  readonly signal: AbortSignal;
}

/** For searches that no caller aborts. */
export const NEVER_ABORTED: RequestContext = { signal: new AbortController().signal };

/** Reads the directory, and nothing before its account's rights are proven. */
export class LdapReader {
  readonly #searcher: LdapSearcher;
  readonly #accessVerifier: AccessVerifier;

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly accessVerifier: AccessVerifier;
  }) {
    this.#searcher = options.searcher;
    this.#accessVerifier = options.accessVerifier;
  }

  /** Every entry that a search finds, with the server that found them. */
  async search(search: LdapSearch, asking: RequestContext): Promise<LdapSearchResult> {
    await this.#accessVerifier.require(asking);
    return this.#searcher.search(search, asking);
  }

  /**
   * Proves the account's rights once more.
   *
   * @throws DirectoryUnavailableError when one is missing.
   */
  async prove(): Promise<void> {
    await this.#accessVerifier.renew();
  }

  /** As the method of `AccessVerifier`. */
  onAccessCheckFailed(listener: (message: string) => void): void {
    this.#accessVerifier.onFailed(listener);
  }

  /** As the method of `AccessVerifier`. */
  failAccessCheck(message: string): DirectoryUnavailableError {
    return this.#accessVerifier.fail(message);
  }

  /** Every entry that a search finds. */
  async read(search: LdapSearch, asking: RequestContext): Promise<readonly Entry[]> {
    const { entries } = await this.search(search, asking);
    return entries;
  }
}
