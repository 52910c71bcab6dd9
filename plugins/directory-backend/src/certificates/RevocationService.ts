import type { AuditorService } from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import type {
  CertificateAuthority,
  IssuedCertificate,
  RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { BlockedKeys } from './BlockedKeys';
import { CallerAudit } from '../directory/CallerAudit';
import { actorOf, type Caller } from '../directory/Caller';
import { ForbiddenError } from '../http/response/apiErrors';
import type { CertificatesConfig } from './CertificatesConfig';
import { isPortalTokenMissing } from './signingRules';

/** A CA that reads and revokes. */
type RevokingAuthority = Required<Pick<CertificateAuthority, 'get' | 'revoke'>>;

/**
 * Revokes certificates for callers whom the router or the gate of actions has
 * admitted, and audits every attempt.
 */
export class RevocationService {
  readonly #authority: RevokingAuthority;
  readonly #blockedKeys: Pick<BlockedKeys, 'block'>;
  readonly #audit: CallerAudit;
  readonly #config: Pick<CertificatesConfig, 'requirePortalToken'>;

  constructor(options: {
    readonly authority: RevokingAuthority;
    readonly blockedKeys: Pick<BlockedKeys, 'block'>;
    readonly auditor: AuditorService;
    readonly config: Pick<CertificatesConfig, 'requirePortalToken'>;
  }) {
    this.#config = options.config;
    this.#authority = options.authority;
    this.#blockedKeys = options.blockedKeys;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
    });
  }

  /**
   * Revokes a certificate for good. One that is revoked already stays as it is.
   *
   * For `keyCompromise`, its key is blocked first, also when the certificate
   * was revoked before or cannot be revoked: after a crash in between, the key
   * is blocked and the request can be repeated.
   *
   * @returns the certificate as it is then, `undefined` when there is none
   * @throws ForbiddenError when `requirePortalToken` denies it to the caller.
   * @throws what {@link CertificateAuthority.revoke} throws.
   */
  async revoke(
    order: { readonly serialNumber: bigint; readonly reason: RevocableReason },
    caller: Caller,
  ): Promise<IssuedCertificate | undefined> {
    const { serialNumber, reason } = order;
    const revokedBy = actorOf(caller);
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
      reason,
    });
    const meta: Record<string, string> = {};
    try {
      if (isPortalTokenMissing(caller, this.#config)) {
        throw new ForbiddenError({
          message:
            'A Kerberos ticket is not enough to revoke certificates. Sign in to the portal and revoke the certificate there.',
        });
      }
      if (reason === 'keyCompromise') {
        const issued = await this.#authority.get(serialNumber, {
          forRevocation: true,
        });
        if (issued) {
          meta.blockedKeyHash = await this.#blockedKeys.block(issued, {
            blockedBy: revokedBy,
          });
        }
      }
      const revoked = await this.#authority.revoke({ ...order, revokedBy });
      if (revoked) {
        await event.success({ meta });
      } else {
        const error = new Error('Certificate not found');
        await event.fail({ meta, error });
      }
      return revoked;
    } catch (error) {
      assertError(error);
      await event.fail({ meta, error });
      throw error;
    }
  }

  /** Audits that a caller may not revoke. */
  recordDenial(
    { caller, error }: { readonly caller: Caller; readonly error: Error },
    { serialNumber }: { readonly serialNumber: bigint },
  ): Promise<void> {
    return this.#audit.recordDenial(caller, error, {
      serialNumber: String(serialNumber),
    });
  }
}
