import type { AuditorService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import {
  OutcomeUnknownError,
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
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificatesConfig } from './CertificatesConfig';
import { checkSignedCertificate } from './checkSignedCertificate';
import { CertificateRefusedError, SigningRefusedError } from './errors';
import {
  type ApprovedRequest,
  type PolicyResult,
  evaluatePolicy,
} from './evaluatePolicy';
import type {
  CertificateKey,
  CertificateOwner,
  CertificateRecord,
} from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';
import type { Reservation, Reservations } from './records/Reservations';
import { findRenewable } from './renewal';
import type { RevocationService } from './RevocationService';
import type { SigningLimit } from './SigningLimit';
import { checkKey } from './signingRules';

const NO_FIELDS: ReadonlySet<never> = new Set();

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
  readonly authorities: Pick<
    CertificateAuthorities,
    'get' | 'issuing' | 'present'
  >;
  readonly blockedKeys: Pick<BlockedKeys, 'has'>;
  readonly config: CertificatesConfig;
  readonly directory: Pick<PrivateDirectory, 'getUser'>;
  readonly limit: SigningLimit;
  readonly records: Pick<
    CertificateRecords,
    'countUnexpired' | 'find' | 'setLabel'
  >;
  readonly reservations: Reservations;
  readonly revocations: Pick<
    RevocationService,
    'revokeAsGateway' | 'revokeUnreturned'
  >;
}

/**
 * Issues certificates: counts the request, evaluates the policy, reserves a
 * serial number, calls the CA, checks the certificate and records it. A crash at
 * any point neither returns an unrecorded certificate nor loses a returned one:
 * {@link RevocationService.revokeLost} revokes serial numbers that were only
 * reserved. Audits every attempt with the hash of the key and the serial number,
 * never with the CSR.
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
   * @throws CertificateRefusedError when the user has the maximum number of
   *   certificates.
   * @throws the errors of {@link CertificateAuthority.sign}.
   */
  async sign(
    request: UncheckedSigningRequest,
    context: CallerContext,
  ): Promise<LocatedCertificate> {
    return await this.#audited(context, this.#auditMeta(request), meta =>
      this.#sign(request, { context, meta }),
    );
  }

  /**
   * Renews a certificate of the caller: with the same profile and label, for
   * the same account, and under the rules of every signing request.
   *
   * @param csr - PEM, or Base64 without armor
   * @throws CertificateRefusedError when the certificate cannot be renewed, or
   *   the caller has not authenticated recently.
   * @throws the errors of {@link IssuanceService.sign}.
   */
  async renew(
    serialNumber: bigint,
    csr: string,
    context: CallerContext,
  ): Promise<LocatedCertificate> {
    const { caller } = context;
    const fields = { renewedFrom: String(serialNumber) };
    return await this.#audited(context, fields, async meta => {
      const { profile, label } = await findRenewable(serialNumber, {
        ...this.#options,
        caller,
      });
      const request = {
        username: caller.account?.username ?? '',
        profile,
        csr,
        label,
        renewedFrom: serialNumber,
      };
      Object.assign(meta, this.#auditMeta(request));
      return await this.#sign(request, { context, meta });
    });
  }

  /** Audits that a caller may not request certificates. */
  recordDenial(denied: {
    readonly caller: Caller;
    readonly error: Error;
  }): Promise<void> {
    return this.#audit.recordDenial(denied.caller, denied.error);
  }

  /** Audits an attempt to sign, which adds to the `meta` of the event. */
  async #audited(
    { caller }: CallerContext,
    fields: Record<string, string>,
    work: (meta: Record<string, string>) => Promise<LocatedCertificate>,
  ): Promise<LocatedCertificate> {
    const event = await this.#audit.start(caller, fields);
    const meta: Record<string, string> = {};
    try {
      const issued = await work(meta);
      await event.success({ meta });
      return issued;
    } catch (error) {
      await event.fail({ meta, error: error as Error });
      throw error;
    }
  }

  async #sign(
    request: UncheckedSigningRequest,
    options: {
      readonly context: CallerContext;
      readonly meta: Record<string, string>;
    },
  ): Promise<LocatedCertificate> {
    const { context, meta } = options;
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
    const owner = { username: approved.username, stableId: subject?.stableId };
    return await this.#issue({ approved, meta, owner, request });
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
      throw new CertificateRefusedError(
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
    /** Has the hash of the key, and receives the serial number. */
    readonly meta: Record<string, string>;
    readonly owner: CertificateOwner;
    readonly request: UncheckedSigningRequest;
  }): Promise<LocatedCertificate> {
    const { authorities, config, records, reservations } = this.#options;
    const { approved, meta, owner, request } = options;
    const { choosesSerialNumbers = false, profiles } = authorities.issuing;
    const profile = profiles?.get(approved.profile);
    const reserved = await reservations.reserve({
      authority: config.authority,
      choosesSerialNumbers,
      owner,
      profile: approved.profile,
      publicKeySha256: meta.keyHash,
      label: request.label,
      requestedBy: approved.requestedBy,
      requestKey: requestKeyOf(approved, [config.authority, owner.stableId]),
      validityMs: profile?.validityMs,
      renewedFrom: request.renewedFrom,
    });
    if (!('row' in reserved)) {
      const { label = reserved.label } = request;
      meta.serialNumber = String(reserved.serialNumber);
      await (request.label !== undefined &&
        records.setLabel(reserved.id, label));
      return authorities.present({ ...reserved, label })!;
    }
    const { serialNumber } = reserved;
    meta.serialNumber = choosesSerialNumbers ? 'unknown' : String(serialNumber);
    const signed = await this.#request(approved, { owner, reserved });
    const { description: returned } = signed.certificate;
    if (returned.ok) {
      meta.serialNumber = String(returned.certificate.serialNumber);
    }
    let record: CertificateRecord;
    try {
      const description = checkSignedCertificate(signed, {
        request: { ...approved, serialNumber },
        choosesSerialNumbers,
        profile,
      });
      record = await reservations.record(reserved, signed, description);
    } catch (error) {
      await this.#options.revocations.revokeUnreturned(reserved, signed);
      throw hasName(error, 'AuthorityProtocolError')
        ? error
        : new OutcomeUnknownError(
            `Certificate ${meta.serialNumber} was issued, but could not be recorded`,
            error,
          );
    }
    await this.#requireUnblocked(meta.keyHash, record);
    return authorities.present(record)!;
  }

  /** Calls the CA, and ends the reservation if it does not sign. */
  async #request(
    request: ApprovedRequest,
    options: {
      readonly owner: CertificateOwner;
      readonly reserved: Reservation;
    },
  ): Promise<SignedCertificate> {
    const { authorities, reservations, revocations } = this.#options;
    const { owner, reserved } = options;
    const { attemptedAt, row, serialNumber } = reserved;
    try {
      await this.#requireBelowMaximum(owner);
      return await authorities.issuing.sign({
        ...request,
        serialNumber,
        attemptedAt,
        ...(row.serial_number === null && {
          recorded: await reservations.listOfKey(reserved),
        }),
      });
    } catch (error) {
      const isUnsigned =
        (isError(error) && error.isUnsigned === true) ||
        hasName(error, 'CertificateRefusedError') ||
        hasName(error, 'AuthorityRefusalError') ||
        hasName(error, 'AuthorityUnavailableError');
      // An earlier attempt may have resulted in a certificate.
      await (isUnsigned && !attemptedAt
        ? reservations.release(reserved).catch(() => {})
        : revocations.revokeUnreturned(reserved));
      throw error;
    }
  }

  /**
   * Checks the key again after the CA has signed, and revokes the certificate
   * if the key was blocked in the meantime.
   */
  async #requireUnblocked(
    keyHash: string,
    certificate: CertificateKey,
  ): Promise<void> {
    const { blockedKeys, revocations } = this.#options;
    try {
      if (!(await blockedKeys.has(keyHash))) {
        return;
      }
      await revocations.revokeAsGateway(certificate, 'keyCompromise');
    } catch (error) {
      throw new OutcomeUnknownError(
        `Certificate ${certificate.serialNumber} was issued, but its key may be blocked`,
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

function hasName(error: unknown, name: string): error is Error {
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
