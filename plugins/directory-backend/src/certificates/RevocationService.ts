import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { assertError, isError } from '@backstage/errors';
import {
  AuthorityRefusalError,
  OutcomeUnknownError,
  type RevocableReason,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  actorOf,
  type Caller,
  CallerAudit,
} from '@directory-gateway/directory-core';
import type { BlockedKeys } from './BlockedKeys';
import type {
  CertificateAuthorities,
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificatesConfig } from './CertificatesConfig';
import { isNamed } from './checkSignedCertificate';
import { CertificateRefusedError } from './errors';
import { ACTOR, type GatewayChanges } from './GatewayChanges';
import type { CertificateRecords } from './records/CertificateRecords';
import type { CertificateKey } from './records/certificateRows';
import type { Reservation, Reservations } from './records/Reservations';
import { isPortalTokenMissing } from './signingRules';

/** Age in milliseconds at which a reservation is of a process that crashed. */
const LOST_AFTER_MS = 10 * 60_000;

/** A certificate to revoke: of any CA, or of the named one. */
type Target = Partial<CertificateKey> & Pick<CertificateKey, 'serialNumber'>;

/** Result of an attempt to revoke: neither is set when there is none. */
interface Outcome {
  /** The certificate of a user, also when the CA fails to revoke it. */
  readonly issued?: LocatedCertificate;
  readonly error?: Error;
}

/** Options of {@link RevocationService}. */
export interface RevocationServiceOptions {
  readonly auditor: AuditorService;
  readonly authorities: Pick<CertificateAuthorities, 'get' | 'revoke'>;
  readonly blockedKeys: Pick<BlockedKeys, 'block'>;
  readonly changes: GatewayChanges;
  readonly config: Pick<CertificatesConfig, 'requirePortalToken'>;
  readonly logger: LoggerService;
  readonly records: Pick<CertificateRecords, 'renewedByKeyOf'>;
  readonly reservations: Pick<
    Reservations,
    'abandon' | 'deleteLost' | 'listReserved' | 'release' | 'reserveChosen'
  >;
}

/**
 * Revokes certificates for authorized callers, and those that were signed but
 * not returned. Audits every attempt.
 */
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
   * revoke the certificate. Certificates that 0.2.0 renewed by proof of the
   * compromised key, and of their keys in turn, are revoked as well.
   *
   * @returns the revoked certificate; `undefined` when there is none
   * @throws CertificateRefusedError when `requirePortalToken` denies the call.
   * @throws AuthorityRefusalError when the certificate is not a user's.
   * @throws the errors of {@link CertificateAuthorities.revoke}.
   */
  async revoke(
    request: {
      readonly serialNumber: bigint;
      readonly reason: RevocableReason;
    },
    caller: Caller,
  ): Promise<LocatedCertificate | undefined> {
    const { config, records } = this.#options;
    const { serialNumber, reason } = request;
    if (isPortalTokenMissing(caller, config)) {
      const error = new CertificateRefusedError(
        'A Kerberos ticket is not enough to revoke certificates. Sign in to the portal and revoke the certificate there.',
      );
      await this.recordDenial({ caller, error }, request);
      throw error;
    }
    const due: Target[] = [{ serialNumber }];
    const outcomes = new Array<Outcome>();
    for (const each of due) {
      const outcome = await this.#revoke({ ...each, reason }, caller);
      outcomes.push(outcome);
      if (reason === 'keyCompromise' && outcome.issued) {
        const { authority } = outcome.issued;
        // After the key is blocked: later renewals fail.
        due.push(
          ...(await records.renewedByKeyOf({
            authority,
            serialNumber: each.serialNumber,
          })),
        );
      }
    }
    const failed = outcomes.find(({ error }) => error);
    if (failed) {
      throw failed.error;
    }
    return outcomes[0].issued;
  }

  async #revoke(
    request: Target & { readonly reason: RevocableReason },
    caller: Caller,
  ): Promise<Outcome> {
    const { authorities, blockedKeys } = this.#options;
    const { authority, serialNumber, reason } = request;
    const revokedBy = actorOf(caller);
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
      reason,
    });
    const meta: Record<string, string> = {};
    let issued: LocatedCertificate | undefined;
    try {
      const found = await authorities.get(serialNumber, {
        authority,
        forRevocation: true,
      });
      if (!found) {
        await event.fail({ meta, error: new Error('Certificate not found') });
        return {};
      }
      requireUser(found);
      issued = found;
      if (reason === 'keyCompromise') {
        meta.blockedKeyHash = await blockedKeys.block(issued.certificate, {
          blockedBy: revokedBy,
        });
      }
      const revocation = await authorities.revoke(issued.authority, {
        serialNumber,
        reason,
        revokedBy,
      });
      await event.success({ meta });
      return { issued: { ...issued, revocation } };
    } catch (error) {
      assertError(error);
      await event.fail({ meta, error });
      return { issued, error };
    }
  }

  /**
   * Revokes a certificate that was signed but is not returned: with the reserved
   * serial number, or with the one that the CA has chosen. If that is not known,
   * the CA searches for the certificate when the request is repeated. After a
   * failure, {@link revokeLost} retries.
   */
  async revokeUnreturned(
    reserved: Reservation,
    signed?: SignedCertificate,
  ): Promise<void> {
    const { logger, reservations } = this.#options;
    const { authority, id, serial_number } = reserved.row;
    let serialNumber =
      serial_number === null ? undefined : BigInt(serial_number);
    const description = signed?.certificate.description;
    try {
      if (
        description?.ok &&
        description.certificate.serialNumber !== serialNumber &&
        (await reservations.reserveChosen(reserved, description.certificate))
      ) {
        serialNumber = description.certificate.serialNumber;
        // A repeated request is for another certificate.
        await (serial_number === null && reservations.release(reserved));
      }
      if (serialNumber !== undefined) {
        await this.#revokeUnrecorded({ authority, serialNumber });
      }
      await reservations.abandon(id);
    } catch (error) {
      const returned = description?.ok && description.certificate.serialNumber;
      logger.warn(
        `A certificate was not returned, and is not revoked yet; serial number: ${
          (serialNumber ?? returned) || 'unknown'
        }: ${error}`,
      );
    }
  }

  /**
   * Revokes the serial numbers of reservations that a crashed process has left,
   * or whose revocation has failed.
   */
  async revokeLost(): Promise<void> {
    const { changes, logger, reservations } = this.#options;
    const before = new Date(Date.now() - LOST_AFTER_MS);
    for (const lost of await reservations.listReserved({ before })) {
      if (changes.isWaiting('revoke', lost)) {
        continue;
      }
      try {
        await this.#revokeUnrecorded(lost);
        await reservations.abandon(lost.id);
      } catch (error) {
        logger.warn(
          `The reserved serial number ${lost.serialNumber} could not be revoked; the gateway tries again: ${error}`,
        );
      }
    }
  }

  /**
   * Deletes attempts to sign whose outcome is not known, and that are not
   * repeated any more. Reports each one: there may be a certificate.
   */
  async deleteLost(): Promise<void> {
    const { auditor, logger, reservations } = this.#options;
    for (const lost of await reservations.deleteLost()) {
      const keyHash = lost.public_key_sha256!;
      const error = new OutcomeUnknownError(
        `It is not known whether the CA has signed a certificate for ${lost.username} with the key ${keyHash}, and the request was not repeated`,
      );
      logger.warn(error.message);
      const event = await auditor.createEvent({
        eventId: 'certificate-sign',
        severityLevel: 'medium',
        meta: {
          actor: ACTOR,
          username: lost.username,
          profile: lost.profile,
          keyHash,
          serialNumber: 'unknown',
        },
      });
      await event.fail({ error });
    }
  }

  /** Revokes a certificate without a record, if the CA can revoke. */
  async #revokeUnrecorded(certificate: CertificateKey): Promise<void> {
    try {
      await this.revokeAsGateway(certificate, 'unspecified');
    } catch (error) {
      if (!isError(error) || error.name !== 'AuthorityRefusalError') {
        throw error;
      }
    }
  }

  /**
   * Revokes a certificate that no caller has asked to revoke.
   *
   * @throws the errors of {@link CertificateAuthorities.revoke}.
   */
  async revokeAsGateway(
    certificate: CertificateKey,
    reason: RevocableReason,
  ): Promise<void> {
    const { authorities, changes } = this.#options;
    await changes.run('revoke', certificate, {
      meta: { reason },
      work: () =>
        authorities.revoke(certificate.authority, {
          serialNumber: certificate.serialNumber,
          reason,
          revokedBy: ACTOR,
        }),
    });
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

/**
 * Requires that the certificate was issued to a user: FreeIPA's CA also issues
 * certificates for hosts, services and itself. Users can add any certificate to
 * their own entries, so an owner counts only if the CN is the user name.
 *
 * @throws AuthorityRefusalError when neither the certificate nor a record of the
 *   gateway names the user.
 */
function requireUser({
  certificate: { description },
  owners = [],
  record,
}: LocatedCertificate): void {
  const isOfUser =
    record !== undefined ||
    (description.ok &&
      owners.some(owner => isNamed(description.certificate, owner)));
  if (!isOfUser) {
    throw new AuthorityRefusalError(
      'The certificate does not belong to a user. Revoke it with the tools of the certificate authority.',
      { kind: 'forbidden' },
    );
  }
}
