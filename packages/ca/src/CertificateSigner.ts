import { CustomErrorBase } from '@backstage/errors';
import type { RevokedCertificate } from '@directory-gateway/x509';

/**
 * Identifies a CA by its key: SHA-256 of the SubjectPublicKeyInfo, lowercase
 * hex. A renewed or cross-signed certificate of the same key has the same id.
 *
 * @public
 */
export type IssuerId = string;

/**
 * Description of a CA of a signer.
 *
 * @public
 */
export interface IssuerDescription {
  /** Identifies the CA by its key. */
  readonly id: IssuerId;
  /** The CA's certificate and its issuers, DER. */
  readonly chain: readonly Buffer[];
  /** CRL number of the last CRL in the issuance log; 0 before the first CRL. */
  readonly crlNumber: bigint;
}

/**
 * A request to sign the certificate of a user.
 *
 * @public
 */
export interface SignCertificateRequest {
  /** The CA that signs. */
  readonly issuerId: IssuerId;
  /** Positive, at most 20 octets, never used before. */
  readonly serialNumber: bigint;
  /** Name of the certificate profile. */
  readonly profile: string;
  /** User name, the `CN` of the subject. */
  readonly username: string;
  /**
   * The CSR, DER, for its proof of possession. Only the key is taken from it.
   */
  readonly csr: Buffer;
  /** Subject alternative names. */
  readonly alternativeNames: {
    /** rfc822Name. */
    readonly emails: readonly string[];
    /** Microsoft user principal names. */
    readonly userPrincipalNames: readonly string[];
    /** KRB5PrincipalName (RFC 4556), as `name@REALM`. */
    readonly kerberosPrincipalNames: readonly string[];
  };
  /** Start of validity; fractions of a second are dropped. */
  readonly notBefore: Date;
  /** Last second of validity. */
  readonly notAfter: Date;
  /** Name of the caller, for the log. */
  readonly requestedBy: string;
}

/**
 * A request to sign a CRL.
 *
 * @public
 */
export interface SignRevocationListRequest {
  /** The CA that signs. */
  readonly issuerId: IssuerId;
  /** CRL number, greater than that of every earlier CRL of the CA. */
  readonly number: bigint;
  /** When the CRL is issued. */
  readonly thisUpdate: Date;
  /** Latest time at which the next CRL is issued. */
  readonly nextUpdate: Date;
  /** The entries, in order. */
  readonly revoked: readonly RevokedCertificate[];
}

/**
 * A certificate in the issuance log.
 *
 * @public
 */
export interface LoggedCertificate {
  /** The CA that signed the certificate. */
  readonly issuerId: IssuerId;
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** User name, the `CN` of the subject. */
  readonly username: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /** Name of the caller. */
  readonly requestedBy: string;
  /** When the certificate was signed. */
  readonly signedAt: Date;
  /** The certificate, DER. */
  readonly certificate: Buffer;
  /**
   * The certificate's latest entry in a logged CRL, for a caller that has lost
   * its records: the signer refuses a next CRL without this entry. `undefined`
   * when no CRL contains the certificate, or its hold was released.
   */
  readonly revocation: Omit<RevokedCertificate, 'serialNumber'> | undefined;
}

/**
 * Signs certificates and CRLs. The signer checks every request itself: a caller
 * that an attacker controls cannot obtain a certificate that violates its policy.
 *
 * @public
 */
export interface CertificateSigner {
  /**
   * Returns the CAs. The first one signs certificates; each one signs its own CRL.
   *
   * @throws SignerUnavailableError when the signer is not available.
   */
  describe(): Promise<{ readonly issuers: readonly IssuerDescription[] }>;

  /**
   * Signs a certificate, and logs it before returning it. A repeated request
   * returns the same certificate from the log.
   *
   * @returns DER
   * @throws SignerRefusalError when the request fails a check; a retry fails
   *   too.
   * @throws SignerUnavailableError when a retry may succeed.
   */
  signCertificate(request: SignCertificateRequest): Promise<Buffer>;

  /**
   * Signs a CRL, and logs it before returning it.
   *
   * @returns DER
   * @throws SignerRefusalError when the request fails a check; a retry fails
   *   too.
   * @throws SignerUnavailableError when a retry may succeed.
   */
  signRevocationList(request: SignRevocationListRequest): Promise<Buffer>;

  /**
   * Blocks a key permanently: it is never certified again.
   *
   * @param request - `publicKeySha256`: SHA-256 of the SubjectPublicKeyInfo,
   *   lowercase hex
   * @throws SignerUnavailableError when the log is not available.
   */
  blockKey(request: { readonly publicKeySha256: string }): Promise<void>;

  /**
   * Returns the certificates of the issuance log, oldest first within each process
   * that wrote them.
   *
   * @throws SignerUnavailableError when the log is not available.
   */
  loggedCertificates(): AsyncIterable<LoggedCertificate>;

  /** Closes the log and the connections. */
  close(): Promise<void>;
}

/**
 * The signer refuses a request. The message is for the caller.
 *
 * @public
 */
export class SignerRefusalError extends CustomErrorBase {
  /** Name of the error. */
  name = 'SignerRefusalError' as const;
}

/**
 * The key, its token, the signer's process or the issuance log is not
 * available. The message is for the log only.
 *
 * @public
 */
export class SignerUnavailableError extends CustomErrorBase {
  /** Name of the error. */
  name = 'SignerUnavailableError' as const;
}

/**
 * The rate limit of the signer refuses a request; the signer is available for
 * other requests. The message is for the log only.
 *
 * @public
 */
export class SignerLimitError extends SignerUnavailableError {}
