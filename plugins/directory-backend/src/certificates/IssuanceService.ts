import type {
  AuditorService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { isError, toError } from '@backstage/errors';
import {
  OutcomeUnknownError,
  type IssuedCertificate,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readCertificateRequest } from '@directory-gateway/x509';
import { createHash } from 'node:crypto';
import {
  type Accounts,
  type Caller,
  CallerAudit,
  type CallerContext,
  isUserName,
  type Principal,
  type PrivateDirectory,
} from '@directory-gateway/directory-core';
import type { BlockedKeys } from './BlockedKeys';
import type {
  CertificateAuthorities,
  CertificateNotes,
} from './CertificateAuthorities';
import type { CertificatesConfig } from './CertificatesConfig';
import { checkSignedCertificate } from './checkSignedCertificate';
import { SigningRefusedError, TooManyCertificatesError } from './errors';
import {
  type ApprovedRequest,
  type PolicyResult,
  evaluatePolicy,
} from './evaluatePolicy';
import type {
  CertificateOwner,
  CertificateRecords,
  Reservation,
  ReservationKey,
} from './records/CertificateRecords';
import type { SigningLimit } from './SigningLimit';
import { checkKey } from './signingRules';

const NO_FIELDS: ReadonlySet<never> = new Set();

/** Actor of revocations that no caller has requested. */
const ACTOR = 'directory-gateway';

/** Age in milliseconds at which a reservation is of a process that crashed. */
const LOST_AFTER_MS = 10 * 60_000;

/** A signing request as it was received. */
export interface UncheckedSigningRequest {
  /** Name of the user to whom the certificate is issued. */
  readonly username: string;
  /** Name of the profile. */
  readonly profile: string;
  /** The CSR: PEM, or Base64 without armor. */
  readonly csr: string;
  /** Text that the user chose to distinguish certificates. */
  readonly label?: string;
  /** Serial number of the certificate that the request renews. */
  readonly renewedFrom?: bigint;
}

/** Options of {@link IssuanceService}. */
export interface IssuanceServiceOptions {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly auditor: AuditorService;
  /** The CA signs, and revokes certificates that it must not have signed. */
  readonly authorities: Pick<CertificateAuthorities, 'issuing' | 'revoke'>;
  readonly blockedKeys: Pick<BlockedKeys, 'has'>;
  readonly config: CertificatesConfig;
  readonly directory: Pick<PrivateDirectory, 'getUser'>;
  readonly limit: SigningLimit;
  readonly logger: LoggerService;
  readonly records: CertificateRecords;
}

/**
 * Issues certificates: counts the request, evaluates the policy, reserves a
 * serial number, calls the CA, checks the certificate and records it. A crash at
 * any point neither returns an unrecorded certificate nor loses a returned one:
 * {@link revokeLost} revokes serial numbers that were only reserved. Audits
 * every attempt with the hash of the key and the serial number, never with the
 * CSR.
 */
export class IssuanceService {
  readonly #options: IssuanceServiceOptions;
  readonly #audit: CallerAudit;

  constructor(options: IssuanceServiceOptions) {
    this.#options = options;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-sign',
      severityLevel: 'medium',
    });
  }

  /**
   * Evaluates the policy without signing. Audits requests for other users.
   *
   * @throws SigningLimitExceededError when the caller exceeds the limit.
   */
  async check(
    request: UncheckedSigningRequest,
    context: CallerContext,
  ): Promise<PolicyResult> {
    const { caller } = context;
    const ownName = caller.account?.username?.toLowerCase();
    if (request.username.toLowerCase() === ownName) {
      return this.#evaluate(request, context);
    }
    return this.#audit.run(
      caller,
      { dryRun: 'true', ...this.#auditMeta(request) },
      () => this.#evaluate(request, context),
    );
  }

  /**
   * Signs a certificate.
   *
   * @throws SigningLimitExceededError when the caller exceeds the limit.
   * @throws SigningRefusedError with the first failed rule.
   * @throws TooManyCertificatesError when the user has the maximum number of
   *   certificates.
   * @throws the errors of {@link CertificateAuthority.sign}.
   */
  async sign(
    request: UncheckedSigningRequest,
    context: CallerContext,
  ): Promise<IssuedCertificate & CertificateNotes> {
    const event = await this.#audit.start(
      context.caller,
      this.#auditMeta(request),
    );
    const meta: Record<string, string> = {};
    try {
      const { approved, checks, keyHash, subject } = await this.#evaluate(
        request,
        context,
      );
      meta.keyHash = keyHash ?? 'unread';
      if (!approved) {
        throw new SigningRefusedError(
          checks.find(({ passed }) => passed === false)!,
        );
      }
      const owner = {
        username: approved.username,
        stableId: subject?.stableId,
      };
      await this.#requireBelowMaximum(owner);
      const issued = await this.#issue({ approved, meta, owner, request });
      await event.success({ meta });
      return issued;
    } catch (error) {
      await event.fail({ meta, error: error as Error });
      throw error;
    }
  }

  /**
   * Revokes the serial numbers of reservations that a crashed process has left,
   * or whose revocation has failed.
   */
  async revokeLost(): Promise<void> {
    const { logger, records } = this.#options;
    const before = new Date(Date.now() - LOST_AFTER_MS);
    for (const lost of await records.listReserved({ before })) {
      await this.#abandon(lost.row.authority, lost).catch(error =>
        logger.warn(
          `The reserved serial number ${lost.row.serial_number} was not revoked, which is repeated: ${error}`,
        ),
      );
    }
  }

  /** Audits that a caller may not request certificates. */
  recordDenial(denied: {
    readonly caller: Caller;
    readonly error: Error;
  }): Promise<void> {
    return this.#audit.recordDenial(denied.caller, denied.error);
  }

  async #evaluate(
    { username, profile, csr }: UncheckedSigningRequest,
    context: CallerContext,
  ): Promise<PolicyResult & { readonly subject: Principal | undefined }> {
    const { accounts, authorities, blockedKeys, config, limit } = this.#options;
    await limit.consume(context.caller);
    const parsedCsr = readCertificateRequest(csr);
    const [subject, isKeyBlocked] = await Promise.all([
      accounts.findLive({ username }, context),
      parsedCsr.ok && blockedKeys.has(parsedCsr.csr.publicKey.sha256),
    ]);
    const result = evaluatePolicy({
      profile,
      parsedCsr,
      isKeyBlocked,
      keyTypes: authorities.issuing.keyTypes,
      caller: context.caller,
      subject,
      isVisible: await this.#isVisible(subject, context),
      config,
    });
    return { ...result, subject };
  }

  /** Returns whether the API shows a user to the caller. */
  async #isVisible(
    subject: Principal | undefined,
    context: CallerContext,
  ): Promise<boolean> {
    if (!subject?.served || subject.username === undefined) {
      return false;
    }
    const { account } = context.caller;
    if (!context.visible?.users || account?.dn === subject.dn) {
      return true;
    }
    const query = { username: subject.username, fields: NO_FIELDS };
    return (
      (await this.#options.directory.getUser(query, context)) !== undefined
    );
  }

  /**
   * Limits how much one account adds to a CRL. Concurrent requests may exceed
   * the maximum by their number, which {@link SigningLimit} limits.
   */
  async #requireBelowMaximum(owner: CertificateOwner): Promise<void> {
    const { config, records } = this.#options;
    const count = await records.countUnexpired(owner);
    if (count >= config.maxPerUser) {
      throw new TooManyCertificatesError(
        `The user has ${count} certificates that have not expired, including revoked ones. The maximum is ${config.maxPerUser}.`,
      );
    }
  }

  /**
   * Reserves, signs, checks and records, unless the request repeats a recent
   * one.
   */
  async #issue(options: {
    readonly approved: ApprovedRequest;
    /** Receives the serial number for the audit event. */
    readonly meta: Record<string, string>;
    readonly owner: CertificateOwner;
    readonly request: UncheckedSigningRequest;
  }): Promise<IssuedCertificate & CertificateNotes> {
    const { authorities, config, records } = this.#options;
    const { approved, meta, owner, request } = options;
    const {
      cacn,
      choosesSerialNumbers = false,
      profiles,
    } = authorities.issuing;
    const notes = { label: request.label, profile: approved.profile };
    const owners = [approved.username];
    const validityMs = profiles?.get(approved.profile)?.validityMs;
    const reserved = await records.reserve({
      authority: config.authority,
      choosesSerialNumbers,
      owner,
      profile: approved.profile,
      label: request.label,
      requestedBy: approved.requestedBy,
      requestKey: requestKeyOf(approved, [config.authority, owner.stableId]),
      validityMs,
      renewedFrom: request.renewedFrom,
    });
    if (!('row' in reserved)) {
      meta.serialNumber = String(reserved.serialNumber);
      await (request.label !== undefined &&
        records.setLabel(reserved.id, request.label));
      const certificate = reserved.certificate!;
      const chain = [certificate.der, ...reserved.issuers];
      const label = request.label ?? reserved.label;
      return { ...notes, label, cacn, certificate, chain, owners };
    }
    const { serialNumber } = reserved;
    meta.serialNumber = choosesSerialNumbers ? 'unknown' : String(serialNumber);
    const signed = await this.#sign({ ...approved, serialNumber }, reserved);
    const { description: returned } = signed.certificate;
    if (returned.ok) {
      meta.serialNumber = String(returned.certificate.serialNumber);
    }
    try {
      const description = checkSignedCertificate(signed, {
        request: { ...approved, serialNumber },
        choosesSerialNumbers,
        validityMs,
      });
      await records.record(reserved, signed, description);
    } catch (error) {
      await this.#revokeUnreturned(reserved, meta.serialNumber);
      throw isNamed(error, 'AuthorityProtocolError')
        ? error
        : new OutcomeUnknownError(
            `Certificate ${meta.serialNumber} was issued, but could not be recorded`,
            error,
          );
    }
    await this.#requireUnblocked(meta.keyHash, meta.serialNumber);
    return { ...signed, ...notes, cacn, owners };
  }

  /** Calls the CA, and ends the reservation if it does not sign. */
  async #sign(
    request: ApprovedRequest & { readonly serialNumber: bigint },
    reserved: Reservation,
  ): Promise<SignedCertificate> {
    const { authorities, records } = this.#options;
    try {
      return await authorities.issuing.sign(request);
    } catch (error) {
      const isUnsigned =
        isNamed(error, 'AuthorityRefusalError') ||
        isNamed(error, 'AuthorityUnavailableError');
      await (isUnsigned
        ? records.release(reserved).catch(() => {})
        : this.#revokeUnreturned(reserved, reserved.row.serial_number));
      throw error;
    }
  }

  /**
   * Revokes a certificate that the caller does not get. After a failure, {@link
   * revokeLost} retries.
   */
  async #revokeUnreturned(
    reserved: Reservation,
    serialNumber: string | null,
  ): Promise<void> {
    const { config, logger } = this.#options;
    try {
      await this.#abandon(config.authority, reserved, serialNumber);
    } catch (error) {
      logger.warn(
        `Certificate ${serialNumber} was not returned, and is not revoked yet: ${error}`,
      );
    }
  }

  /** Revokes the serial number of a reservation, if the CA can, and ends it. */
  async #abandon(
    authority: string,
    reserved: ReservationKey,
    serialNumber = reserved.row.serial_number,
  ): Promise<void> {
    const { auditor, authorities, records } = this.#options;
    if (!/^\d+$/.test(serialNumber ?? '')) {
      // The CA has chosen a number that is not known.
      await records.release(reserved);
      return;
    }
    const event = await auditor.createEvent({
      eventId: 'certificate-revoke',
      severityLevel: 'medium',
      meta: { actor: ACTOR, serialNumber, reason: 'unspecified' },
    });
    try {
      await authorities.revoke(authority, {
        serialNumber: BigInt(serialNumber!),
        reason: 'unspecified',
        revokedBy: ACTOR,
      });
      await event.success();
    } catch (error) {
      await event.fail({ error: toError(error) });
      if (!isNamed(error, 'AuthorityRefusalError')) {
        throw error;
      }
    }
    await records.abandon(reserved);
  }

  /**
   * Checks the key again after the CA has signed, and revokes the certificate
   * if the key was blocked in the meantime.
   */
  async #requireUnblocked(
    keyHash: string,
    serialNumber: string,
  ): Promise<void> {
    const { authorities, blockedKeys, config } = this.#options;
    try {
      if (!(await blockedKeys.has(keyHash))) {
        return;
      }
      const revoked = await authorities.revoke(config.authority, {
        serialNumber: BigInt(serialNumber),
        reason: 'keyCompromise',
        revokedBy: ACTOR,
      });
      if (!revoked) {
        throw new Error('The CA does not find the certificate');
      }
    } catch (error) {
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was issued, but its key may be blocked`,
        error,
      );
    }
    throw new SigningRefusedError(checkKey(true));
  }

  /** Fields of an audit event, without unchecked names. */
  #auditMeta({ username, profile }: UncheckedSigningRequest) {
    const { profiles } = this.#options.config;
    return {
      username: isUserName(username) ? username : 'invalid',
      profile: profiles.has(profile) ? profile : 'unknown',
    };
  }
}

function isNamed(error: unknown, name: string): error is Error {
  return isError(error) && error.name === name;
}

/**
 * Returns a value that a request shares with its repetitions: a client that has
 * not received the response sends the same request again. A request for other
 * names is for another certificate.
 *
 * @param account - the CA and the ID of the account
 * @returns SHA-256 in lower-case hex
 */
function requestKeyOf(
  request: ApprovedRequest,
  account: readonly (string | undefined)[],
): string {
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    request.alternativeNames;
  const identity = JSON.stringify([
    ...account,
    request.username,
    request.profile,
    request.publicKey.toString('base64'),
    emails,
    userPrincipalNames,
    kerberosPrincipalNames,
  ]);
  return createHash('sha256').update(identity).digest('hex');
}
