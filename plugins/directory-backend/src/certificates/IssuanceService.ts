import type { AuditorService } from '@backstage/backend-plugin-api';
import {
  OutcomeUnknownError,
  type CertificateAuthority,
  type IssuedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readCertificateRequest } from '@directory-gateway/x509';
import type { Accounts } from '../directory/Accounts';
import type { Caller, CallerContext } from '../directory/Caller';
import { CallerAudit } from '../directory/CallerAudit';
import { isUserName } from '../directory/names';
import type { Principal } from '../directory/Principal';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { BlockedKeys } from './BlockedKeys';
import type { CertificateRecords } from './CertificateRecords';
import type { CertificatesConfig } from './CertificatesConfig';
import { SigningRefusedError, TooManyCertificatesError } from './errors';
import { type PolicyResult, evaluatePolicy } from './evaluatePolicy';
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
  /** A CA that signs, and revokes certificates that it must not have signed. */
  readonly authority: Required<Pick<CertificateAuthority, 'sign' | 'revoke'>> &
    Pick<CertificateAuthority, 'requestSignatures'>;
  readonly blockedKeys: Pick<BlockedKeys, 'has'>;
  readonly config: CertificatesConfig;
  readonly directory: Pick<PrivateDirectory, 'getUser'>;
  readonly limit: SigningLimit;
  readonly records: Pick<CertificateRecords, 'add' | 'countUnexpired'>;
}

/**
 * Issues certificates: counts the request, evaluates the policy, and calls the
 * CA. Audits every attempt with the hash of the key and the serial number,
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
   * @throws TooManyCertificatesError when the user has the maximum number of
   *   certificates.
   * @throws the errors of {@link CertificateAuthority.sign}.
   */
  async sign(
    request: UncheckedSigningRequest,
    context: CallerContext,
  ): Promise<IssuedCertificate> {
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
      await this.#requireBelowMaximum(approved, subject);
      const issued = await this.#options.authority.sign(approved);
      const { description } = issued.certificate;
      meta.serialNumber = description.ok
        ? String(description.certificate.serialNumber)
        : 'unreadable';
      await Promise.all([
        this.#record(issued, { approved, subject, request }),
        this.#requireUnblocked(meta.keyHash, meta.serialNumber),
      ]);
      await event.success({ meta });
      return issued;
    } catch (error) {
      await event.fail({ meta, error: error as Error });
      throw error;
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
    const { accounts, authority, blockedKeys, config, limit } = this.#options;
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
      requestSignatures: authority.requestSignatures,
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
  async #requireBelowMaximum(
    { username }: SigningRequest,
    subject: Principal | undefined,
  ): Promise<void> {
    const { config, records } = this.#options;
    const account = { username, stableId: subject?.stableId };
    const count = await records.countUnexpired(account);
    if (count >= config.maxPerUser) {
      throw new TooManyCertificatesError(
        `The user has ${count} certificates that have not expired, including revoked ones. The maximum is ${config.maxPerUser}.`,
      );
    }
  }

  /**
   * Records the account of a certificate. A certificate without a record could
   * not be renewed or put on hold, so it is not returned: the client repeats
   * the request, and the embedded CA returns the same certificate.
   *
   * @throws OutcomeUnknownError when the record cannot be written.
   */
  async #record(
    { certificate: { description } }: IssuedCertificate,
    options: {
      readonly approved: SigningRequest;
      readonly subject: Principal | undefined;
      readonly request: Pick<UncheckedSigningRequest, 'label' | 'renewedFrom'>;
    },
  ): Promise<void> {
    const { approved, subject } = options;
    const { label, renewedFrom } = options.request;
    if (!description.ok) {
      return;
    }
    const { serialNumber, notAfter } = description.certificate;
    try {
      await this.#options.records.add({
        serialNumber,
        username: approved.username,
        subjectId: subject?.stableId,
        profile: approved.profile,
        label,
        publicKey: approved.publicKey,
        notAfter: new Date(notAfter),
        renewedFrom,
      });
    } catch (error) {
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was issued, but could not be recorded`,
        error,
      );
    }
  }

  /**
   * Checks the key again after the CA has signed, and revokes the certificate
   * if the key was blocked in the meantime.
   */
  async #requireUnblocked(
    keyHash: string,
    serialNumber: string,
  ): Promise<void> {
    const { authority, blockedKeys } = this.#options;
    try {
      if (!(await blockedKeys.has(keyHash))) {
        return;
      }
      const revoked = await authority.revoke({
        serialNumber: BigInt(serialNumber),
        reason: 'keyCompromise',
        revokedBy: 'directory-gateway',
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
