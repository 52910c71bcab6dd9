import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateSigner,
  type IssuerDescription,
  SignerLimitError,
} from '@directory-gateway/ca';
import {
  Certificate,
  type CertificateDescription,
} from '@directory-gateway/x509';
import type { IssuerRecord, IssuerStore } from './IssuerStore';

/** Minimum time between attempts to reach the signer. */
const RETRY_MS = 1000;

/** Number of hex digits of an issuer's id in the URLs of its documents. */
const NAME_LENGTH = 16;

/** Name of an issuer in URLs and metrics. */
export function nameOf({ id }: Pick<IssuerRecord, 'id'>): string {
  return id.slice(0, NAME_LENGTH);
}

/** The signer and its issuers. */
export interface AvailableSigner {
  readonly signer: CertificateSigner;
  /** The first one signs certificates; each one signs its own CRL. */
  readonly issuers: readonly IssuerDescription[];
  /**
   * Period in which all certificates in the first issuer's chain are valid, in
   * milliseconds since 1970.
   */
  readonly validity: { readonly notBefore: number; readonly notAfter: number };
}

/** Options of {@link Issuers}. */
export interface IssuersOptions {
  /** Opens the signer; called again until it succeeds. */
  openSigner(): Promise<CertificateSigner>;
  readonly store: IssuerStore;
  readonly logger: LoggerService;
}

/**
 * The issuers of this instance's signer, or the reason why it cannot sign, and
 * the issuers on record, whose certificates and CRLs every instance publishes.
 */
export class Issuers {
  readonly #options: IssuersOptions;
  #signer: CertificateSigner | undefined;
  #available: AvailableSigner | undefined;
  #failure = 'the signer was not opened';
  #recorded: ReadonlyMap<string, IssuerRecord> = new Map();
  #lastRefresh = -Infinity;
  #refreshing: Promise<void> | undefined;

  constructor(options: IssuersOptions) {
    this.#options = options;
  }

  /** `undefined` while this instance cannot sign. */
  get available(): AvailableSigner | undefined {
    return this.#available;
  }

  /** The issuers on record, by name in URLs. */
  get recorded(): ReadonlyMap<string, IssuerRecord> {
    return this.#recorded;
  }

  /**
   * Returns the signer. Tries to open it again if it was not available.
   *
   * @throws AuthorityUnavailableError when this instance cannot sign.
   */
  async require(): Promise<AvailableSigner> {
    if (
      !this.#available &&
      (this.#refreshing || performance.now() - this.#lastRefresh >= RETRY_MS)
    ) {
      await this.refresh();
    }
    if (!this.#available) {
      throw new AuthorityUnavailableError(
        `This instance cannot sign: ${this.#failure}`,
      );
    }
    return this.#available;
  }

  /**
   * Reads the issuers of the signer, and records new ones. Concurrent calls
   * share an attempt. A failure is logged, not thrown.
   */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#lastRefresh = performance.now();
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  /**
   * Marks the signer as unavailable until the next refresh, unless its rate limit
   * refused a request.
   */
  reportFailure(error: unknown): void {
    if (error instanceof SignerLimitError) {
      return;
    }
    const reason = toError(error).message;
    // Logged once per reason: the signer is tried again every minute.
    if (this.#available || reason !== this.#failure) {
      this.#options.logger.error(
        `This instance cannot sign certificates: ${reason}`,
      );
    }
    this.#available = undefined;
    this.#failure = reason;
  }

  async close(): Promise<void> {
    this.#available = undefined;
    await this.#signer?.close();
  }

  async #refresh(): Promise<void> {
    const { store } = this.#options;
    try {
      this.#signer ??= await this.#options.openSigner();
      const { issuers } = await this.#signer.describe();
      if (!isSame(issuers, this.#available?.issuers)) {
        await this.#use(this.#signer, issuers);
      }
    } catch (error) {
      this.reportFailure(error);
    }
    // Other instances may have other issuers.
    const recorded = await store.list().catch(() => undefined);
    this.#recorded = recorded
      ? new Map(recorded.map(issuer => [nameOf(issuer), issuer]))
      : this.#recorded;
  }

  async #use(
    signer: CertificateSigner,
    issuers: readonly IssuerDescription[],
  ): Promise<void> {
    const { store, logger } = this.#options;
    const chain = issuers[0].chain.map(describe);
    for (const issuer of issuers) {
      await store.record(issuer);
    }
    const notAfter = Math.min(...chain.map(own => own.notAfter));
    this.#available = {
      signer,
      issuers,
      validity: {
        notBefore: Math.max(...chain.map(own => own.notBefore)),
        notAfter,
      },
    };
    logger.info(
      `Signing as ${chain[0].subject} until ${new Date(
        notAfter,
      ).toISOString()}`,
    );
  }
}

function describe(certificate: Buffer): CertificateDescription {
  const result = new Certificate(certificate).description;
  if (!result.ok) {
    throw new Error(`The CA certificate is invalid: ${result.message}`);
  }
  return result.certificate;
}

function isSame(
  issuers: readonly IssuerRecord[],
  others: readonly IssuerRecord[] = [],
): boolean {
  const text = (list: readonly IssuerRecord[]) =>
    JSON.stringify(
      list.map(({ id, chain }) => [
        id,
        chain.map(der => der.toString('base64')),
      ]),
    );
  return text(issuers) === text(others);
}
