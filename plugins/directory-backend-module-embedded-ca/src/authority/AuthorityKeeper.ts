import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import { KeyRefusedError } from './KeyRefusedError';
import type { SigningAuthority } from './SigningAuthority';
import { openAuthority, type OpenAuthorityOptions } from './openAuthority';

/** Keeps the authority open, or knows why this node must not sign. */
export class AuthorityKeeper {
  readonly #options: OpenAuthorityOptions;
  #authority: SigningAuthority | undefined;
  #refusal: string | undefined;

  /**
   * Opens the authority. A node that must not sign can still read what was
   * signed: it says so in the log and goes on.
   */
  static async create(options: OpenAuthorityOptions): Promise<AuthorityKeeper> {
    const keeper = new AuthorityKeeper(options);
    await keeper.open();
    return keeper;
  }

  private constructor(options: OpenAuthorityOptions) {
    this.#options = options;
  }

  /** Whether this node may sign. */
  get isOpen(): boolean {
    return this.#authority !== undefined;
  }

  /** @throws AuthorityUnavailableError when this node must not sign. */
  get current(): SigningAuthority {
    if (!this.#authority) {
      throw new AuthorityUnavailableError(
        `This node does not sign: ${this.#refusal}`,
      );
    }
    return this.#authority;
  }

  /** Tries again when it is not open: the key may have been brought since. */
  async open(): Promise<void> {
    if (this.#authority) {
      return;
    }
    try {
      this.#authority = await openAuthority(this.#options);
      this.#options.logger.info(
        `Signs as ${this.#authority.issuer.certificate.subject}, until ${
          this.#authority.issuer.certificate.validNotAfter
        }`,
      );
    } catch (error) {
      if (!(error instanceof KeyRefusedError)) {
        throw error;
      }
      // Once for each reason: this is tried every minute.
      if (error.message !== this.#refusal) {
        this.#options.logger.error(
          `This node does not sign certificates: ${error.message}`,
        );
      }
      this.#refusal = error.message;
    }
  }
}
