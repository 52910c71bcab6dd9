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
import type { CertificateRecords } from './CertificateRecords';
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
  readonly records: Pick<CertificateRecords, 'renewedByKeyOf'>;
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
   * For `keyCompromise`, the key is blocked first, even when the certificate is
   * already revoked or cannot be revoked, and blocked in the CA last. After a
   * failure in between, the key is blocked and the request can be repeated.
   * Certificates that were renewed by the compromised key, and by their keys in
   * turn, are revoked as well.
   *
   * @returns the revoked certificate; `undefined` when there is none
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
    const { config, records } = this.#options;
    const { serialNumber, reason } = request;
    // The holder of the key may revoke its certificate, as in RFC 8555 §7.6.
    const hasKey = caller.kind === 'certificate';
    if (!hasKey && isPortalTokenMissing(caller, config)) {
      const error = new PortalTokenRequiredError(
        'A Kerberos ticket is not enough to revoke certificates. Sign in to the portal and revoke the certificate there.',
      );
      await this.recordDenial({ caller, error }, request);
      throw error;
    }
    if (reason !== 'keyCompromise') {
      return this.#revoke(request, caller);
    }
    // Renewals are read after the key is blocked: later renewals fail.
    const compromised = [serialNumber];
    const results = new Array<IssuedCertificate | undefined>();
    const failures = new Array<unknown>();
    for (const each of compromised) {
      try {
        results.push(
          await this.#revoke({ serialNumber: each, reason }, caller),
        );
      } catch (error) {
        failures.push(error);
      }
      compromised.push(...(await records.renewedByKeyOf(each)));
    }
    if (failures.length > 0) {
      throw failures[0];
    }
    return results[0];
  }

  async #revoke(
    request: {
      readonly serialNumber: bigint;
      readonly reason: RevocableReason;
    },
    caller: Caller,
  ): Promise<IssuedCertificate | undefined> {
    const { authority, blockedKeys } = this.#options;
    const { serialNumber, reason } = request;
    const revokedBy = actorOf(caller);
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
      reason,
    });
    const meta: Record<string, string> = {};
    let publicKeySha256: string | undefined;
    try {
      if (reason === 'keyCompromise') {
        const issued = await authority.get(serialNumber, {
          forRevocation: true,
        });
        if (issued) {
          publicKeySha256 = await blockedKeys.block(issued.certificate, {
            blockedBy: revokedBy,
          });
          meta.blockedKeyHash = publicKeySha256;
        }
      }
      let revoked: IssuedCertificate | undefined;
      try {
        revoked = await authority.revoke({ ...request, revokedBy });
      } finally {
        // Done last, so that an unavailable signer does not prevent the
        // revocation.
        if (publicKeySha256 !== undefined) {
          await authority.blockKey({ publicKeySha256 });
        }
      }
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
