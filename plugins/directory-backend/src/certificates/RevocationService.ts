import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { assertError, isError, toError } from '@backstage/errors';
import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  OutcomeUnknownError,
  type RevocableReason,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  actorOf,
  type Caller,
  CallerAudit,
} from '@directory-gateway/directory-core';
import type { CertificateDescription } from '@directory-gateway/x509';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockedKeys } from './BlockedKeys';
import type {
  CertificateAuthorities,
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificatesConfig } from './CertificatesConfig';
import { isNamed } from './checkSignedCertificate';
import { PortalTokenRequiredError } from './errors';
import type { CertificateRecords } from './records/CertificateRecords';
import type { CertificateKey } from './records/RevocationTable';
import type { Reservation, Reservations } from './records/Reservations';
import { isPortalTokenMissing } from './signingRules';

/** Actor of changes that no caller has requested. */
export const ACTOR = 'directory-gateway';

/** Age in milliseconds at which a reservation is of a process that crashed. */
const LOST_AFTER_MS = 10 * 60_000;

/** Attempts to read the records of a certificate that was not returned. */
const MAX_ATTEMPTS = 5;

/** Pause between these attempts, in milliseconds. */
const PAUSE_MS = 1000;

/** Options of {@link RevocationService}. */
export interface RevocationServiceOptions {
  readonly auditor: AuditorService;
  readonly authorities: Pick<CertificateAuthorities, 'get' | 'revoke'>;
  readonly blockedKeys: Pick<BlockedKeys, 'block'>;
  readonly config: Pick<CertificatesConfig, 'requirePortalToken'>;
  readonly logger: LoggerService;
  readonly records: Pick<CertificateRecords, 'find' | 'renewedByKeyOf'>;
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
   * @throws PortalTokenRequiredError when `requirePortalToken` denies the call.
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
    const results = new Array<LocatedCertificate | undefined>();
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
  ): Promise<LocatedCertificate | undefined> {
    const { authorities, blockedKeys } = this.#options;
    const { serialNumber, reason } = request;
    const revokedBy = actorOf(caller);
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
      reason,
    });
    const meta: Record<string, string> = {};
    try {
      const issued = await authorities.get(serialNumber, {
        forRevocation: true,
      });
      if (!issued) {
        await event.fail({ meta, error: new Error('Certificate not found') });
        return undefined;
      }
      requireUser(issued);
      if (reason === 'keyCompromise') {
        meta.blockedKeyHash = await blockedKeys.block(issued.certificate, {
          blockedBy: revokedBy,
        });
      }
      const revocation = await authorities.revoke(issued.authority, {
        ...request,
        revokedBy,
      });
      if (!revocation) {
        throw new AuthorityUnavailableError(
          `The CA does not find certificate ${serialNumber} any more`,
        );
      }
      await event.success({ meta });
      return { ...issued, revocation };
    } catch (error) {
      assertError(error);
      await event.fail({ meta, error });
      throw error;
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
    try {
      const chosen = signed && (await this.#findUnrecorded(signed, authority));
      serialNumber = chosen?.serialNumber ?? serialNumber;
      if (serialNumber !== undefined) {
        try {
          await this.#revokeUnrecorded({ authority, serialNumber });
        } catch (error) {
          await (chosen &&
            serial_number === null &&
            reservations.reserveChosen(reserved, chosen));
          throw error;
        }
      }
      await (serialNumber !== undefined && serial_number === null
        ? reservations.release(reserved)
        : reservations.abandon(id));
    } catch (error) {
      const { description } = signed?.certificate ?? {};
      const returned = description?.ok && description.certificate.serialNumber;
      logger.warn(
        `A certificate was not returned, and is not revoked yet; serial number: ${
          serialNumber ?? (returned || 'unknown')
        }: ${error}`,
      );
    }
  }

  /**
   * Revokes the serial numbers of reservations that a crashed process has left,
   * or whose revocation has failed.
   */
  async revokeLost(): Promise<void> {
    const { logger, reservations } = this.#options;
    const before = new Date(Date.now() - LOST_AFTER_MS);
    for (const lost of await reservations.listReserved({ before })) {
      try {
        await this.#revokeUnrecorded(lost);
        await reservations.abandon(lost.id);
      } catch (error) {
        logger.warn(
          `The reserved serial number ${lost.serialNumber} could not be revoked, and is tried again: ${error}`,
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

  /**
   * Revokes a certificate whose key was blocked while it was signed.
   *
   * @throws AuthorityUnavailableError when the CA does not find it.
   * @throws the errors of {@link CertificateAuthorities.revoke}.
   */
  async revokeBlocked(certificate: CertificateKey): Promise<void> {
    await this.#revokeAsGateway(certificate, 'keyCompromise');
  }

  /**
   * Returns the description of a signed certificate; `undefined` when another
   * certificate has its serial number, which must not be revoked. Retries for
   * some seconds: without the records, it cannot be revoked.
   */
  async #findUnrecorded(
    { certificate: { description } }: SignedCertificate,
    authority: string,
  ): Promise<CertificateDescription | undefined> {
    if (!description.ok) {
      return undefined;
    }
    const { certificate } = description;
    for (let attempt = 1; ; attempt++) {
      try {
        const found = await this.#options.records.find(
          certificate.serialNumber,
        );
        return found.some(each => each.authority === authority)
          ? undefined
          : certificate;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) {
          throw error;
        }
        await sleep(PAUSE_MS);
      }
    }
  }

  /** Revokes a certificate without a record, if the CA has it and can. */
  async #revokeUnrecorded(certificate: CertificateKey): Promise<void> {
    try {
      await this.#revokeAsGateway(certificate, 'unspecified');
    } catch (error) {
      if (!isError(error) || error.name !== 'AuthorityRefusalError') {
        throw error;
      }
    }
  }

  /**
   * Revokes a certificate that no caller has asked to revoke.
   *
   * @throws AuthorityUnavailableError when the CA does not find a certificate
   *   with a compromised key; another one may only be reserved.
   */
  async #revokeAsGateway(
    { authority, serialNumber }: CertificateKey,
    reason: RevocableReason,
  ): Promise<void> {
    const { auditor, authorities } = this.#options;
    const event = await auditor.createEvent({
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
      meta: { actor: ACTOR, serialNumber: String(serialNumber), reason },
    });
    try {
      const revocation = await authorities.revoke(authority, {
        serialNumber,
        reason,
        revokedBy: ACTOR,
      });
      if (!revocation && reason === 'keyCompromise') {
        throw new AuthorityUnavailableError(
          `The CA does not find certificate ${serialNumber}`,
        );
      }
      await event.success();
    } catch (error) {
      await event.fail({ error: toError(error) });
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
