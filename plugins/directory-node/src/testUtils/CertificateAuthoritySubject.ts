import type {
  CertificateAuthority,
  SigningRequest,
} from '../CertificateAuthority';

/**
 * An authority to try, and what the suite must know of its surroundings.
 *
 * @public
 */
export interface CertificateAuthoritySubject {
  readonly authority: CertificateAuthority;
  /** A user for whom it signs, with their principal and realm. */
  readonly user: { readonly username: string; readonly principal: string };
  /** A profile with which it signs for them, for every kind of key tried. */
  readonly profile: string;
  /** Its name in answers. */
  readonly cacn: string;
  /** Organization that its CSRs must have in their subject, if any. */
  readonly organization?: string;
  /**
   * Changes to a good request after which this authority must refuse it, each
   * with what is wrong with it. An unknown profile is tried without being
   * listed.
   */
  readonly refused?: readonly {
    readonly why: string;
    readonly change: Partial<SigningRequest>;
  }[];
  /**
   * Takes away what the authority needs to work (its server, its database)
   * until the returned function is called.
   */
  interrupt(): Promise<() => Promise<void>>;
  /**
   * Revokes a certificate behind the gateway's back, if this authority can be
   * made to.
   */
  revoke?(options: {
    readonly serialNumber: bigint;
    readonly reason: number;
  }): Promise<void>;
  /** Ends everything that `create` started. */
  stop(): Promise<void>;
}
