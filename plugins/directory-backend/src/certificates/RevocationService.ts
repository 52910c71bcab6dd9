import type { AuditorService } from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import type {
  CertificateAuthority,
  IssuedCertificate,
  RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import { actorOf, type Caller } from '../directory/Caller';
import { CallerAudit } from '../directory/CallerAudit';
import type { BlockedKeys } from './BlockedKeys';
import type { CertificatesConfig } from './CertificatesConfig';
import { PortalTokenRequiredError } from './errors';
import { isPortalTokenMissing } from './signingRules';

/** Options of {@link RevocationService}. */
export interface RevocationServiceOptions {
  readonly auditor: AuditorService;
  readonly authority: Required<
    Pick<CertificateAuthority, 'get' | 'revoke' | 'blockKey'>
  >;
  readonly blockedKeys: Pick<BlockedKeys, 'block'>;
  readonly config: Pick<CertificatesConfig, 'requirePortalToken'>;
}

/** Revokes certificates for authorized callers, and audits every attempt. */
export class RevocationService {
  readonly #options: RevocationServiceOptions;
  readonly #audit: CallerAudit;

  constructor(options: RevocationServiceOptions) {
    this.#options = options;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
    });
  }

  /**
   * Revokes a certificate permanently. A revoked certificate keeps its reason.
   *
   * For `keyCompromise`, the key is blocked first, also when the certificate is
   * already revoked or cannot be revoked: after a crash in between, the key is
   * blocked and the request can be repeated.
   *
   * @returns the revoked certificate, `undefined` when there is none
   * @throws PortalTokenRequiredError when `requirePortalToken` denies the call.
   * @throws the errors of {@link CertificateAuthority.revoke}.
   */
  async revoke(
    request: {
      readonly serialNumber: bigint;
      readonly reason: RevocableReason;
    },
    caller: Caller,
  ): Promise<IssuedCertificate | undefined> {
    const { authority, blockedKeys, config } = this.#options;
    const { serialNumber, reason } = request;
    const revokedBy = actorOf(caller);
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
      reason,
    });
    const meta: Record<string, string> = {};
    try {
      // The holder of the key may revoke its certificate (RFC 8555 §7.6).
      const hasKey = caller.kind === 'certificate';
      if (!hasKey && isPortalTokenMissing(caller, config)) {
        throw new PortalTokenRequiredError(
          'A Kerberos ticket is not enough to revoke certificates. Sign in to the portal and revoke the certificate there.',
        );
      }
      if (reason === 'keyCompromise') {
        const issued = await authority.get(serialNumber, {
          forRevocation: true,
        });
        if (issued) {
          const publicKeySha256 = await blockedKeys.block(issued.certificate, {
            blockedBy: revokedBy,
          });
          meta.blockedKeyHash = publicKeySha256;
          await authority.blockKey({ publicKeySha256 });
        }
      }
      const revoked = await authority.revoke({ ...request, revokedBy });
      await (revoked
        ? event.success({ meta })
        : event.fail({ meta, error: new Error('Certificate not found') }));
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
