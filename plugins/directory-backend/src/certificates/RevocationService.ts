import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type IssuedCertificate,
  type RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createHash } from 'node:crypto';
import { actorOf, type Caller } from '../directory/Caller';
import { CallerAudit } from '../directory/CallerAudit';
import type { BlockedKeys } from './BlockedKeys';
import type { CertificateRecords } from './CertificateRecords';
import type { CertificatesConfig } from './CertificatesConfig';
import { PortalTokenRequiredError } from './errors';
import { isPortalTokenMissing } from './signingRules';

/** OID of commonName (RFC 4519 §2.3). */
const COMMON_NAME = '2.5.4.3';

/** Options of {@link RevocationService}. */
export interface RevocationServiceOptions {
  readonly auditor: AuditorService;
  readonly authority: Required<
    Pick<CertificateAuthority, 'get' | 'revoke' | 'blockKey'>
  >;
  readonly blockedKeys: Pick<BlockedKeys, 'block'>;
  readonly config: Pick<CertificatesConfig, 'requirePortalToken'>;
  readonly logger: LoggerService;
  readonly records: Pick<CertificateRecords, 'get' | 'renewedByKeyOf'>;
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
   * Revokes a user's certificate permanently, even if it is on hold. A revoked
   * certificate keeps its reason.
   *
   * For `keyCompromise`, the gateway blocks the key first, even if the CA cannot
   * revoke the certificate. It sends the key to the CA last; after a
   * failure, {@link scheduleBlockedKeys} retries. Certificates that 0.2.0 renewed
   * by proof of the compromised key, and of their keys in turn, are revoked as
   * well.
   *
   * @returns the revoked certificate; `undefined` when there is none
   * @throws PortalTokenRequiredError when `requirePortalToken` denies the call.
   * @throws AuthorityRefusalError when the certificate is not a user's.
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
    if (isPortalTokenMissing(caller, config)) {
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
    try {
      const issued = await authority.get(serialNumber, { forRevocation: true });
      if (!issued) {
        await event.fail({ meta, error: new Error('Certificate not found') });
        return undefined;
      }
      await this.#requireUser(issued, serialNumber);
      if (reason === 'keyCompromise') {
        meta.blockedKeyHash = await blockedKeys.block(issued.certificate, {
          blockedBy: revokedBy,
        });
      }
      let revoked: IssuedCertificate | undefined;
      try {
        revoked = await authority.revoke({ ...request, revokedBy });
      } finally {
        // Done last, so that an unavailable signer does not prevent the
        // revocation.
        await this.#blockInCa(meta.blockedKeyHash);
      }
      if (!revoked) {
        throw new AuthorityUnavailableError(
          `The CA does not find certificate ${serialNumber} any more`,
        );
      }
      await event.success({ meta });
      return revoked;
    } catch (error) {
      assertError(error);
      await event.fail({ meta, error });
      throw error;
    }
  }

  /**
   * Requires that the certificate was issued to a user: FreeIPA's CA also issues
   * certificates for hosts, services and itself. Users can add any certificate
   * to their own entries, so an owner counts only if the CN is the user name.
   *
   * @throws AuthorityRefusalError when neither the certificate nor a record of
   *   the gateway names the user.
   */
  async #requireUser(
    { owners = [], certificate: { description } }: IssuedCertificate,
    serialNumber: bigint,
  ): Promise<void> {
    if (description.ok) {
      const { subjectName, publicKey } = description.certificate;
      const names = subjectName.rdns
        .flat()
        .filter(({ oid }) => oid === COMMON_NAME);
      if (
        owners.some(
          owner =>
            names.length > 0 && names.every(({ value }) => value === owner),
        )
      ) {
        return;
      }
      const record = await this.#options.records.get(serialNumber);
      // A record of a previous CA can have the same serial number, but has a
      // different key.
      if (record && publicKey.sha256 === sha256(record.publicKey)) {
        return;
      }
    }
    throw new AuthorityRefusalError(
      'The certificate does not belong to a user. Revoke it with the tools of the certificate authority.',
      { kind: 'forbidden' },
    );
  }

  async #blockInCa(publicKeySha256: string | undefined): Promise<void> {
    if (publicKeySha256 === undefined) {
      return;
    }
    const { authority, logger } = this.#options;
    try {
      await authority.blockKey({ publicKeySha256 });
    } catch (error) {
      logger.warn(
        `The gateway blocked the key ${publicKeySha256}, but the CA did not. The gateway retries every minute: ${error}`,
      );
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

/** Returns a hash in lower-case hexadecimal. */
function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
