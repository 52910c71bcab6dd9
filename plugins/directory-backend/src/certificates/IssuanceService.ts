import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import {
  OutcomeUnknownError,
  type CertificateAuthority,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  describeCertificate,
  readCertificateRequest,
} from '@directory-gateway/x509';
import { CallerAudit } from '../directory/CallerAudit';
import type { Accounts } from '../directory/Accounts';
import type { Caller, CallerContext } from '../directory/Caller';
import { isUserName } from '../directory/names';
import type { BlockedKeys } from './BlockedKeys';
import type { CertificatesConfig } from './CertificatesConfig';
import {
  judgeKey,
  judgeSigning,
  type SigningJudgement,
  type SigningQuestion,
} from './evaluatePolicy';
import type { SigningLimit } from './SigningLimit';
import { SigningRefusedError } from './errors';

/** A question, and for whom it is. */
export type SigningOrder = SigningQuestion & { readonly username: string };

/** A CA that signs, and revokes what it must not have signed. */
type SigningAuthority = Required<Pick<CertificateAuthority, 'sign' | 'revoke'>>;

/**
 * Where certificates are asked for: counts, decides by the rules, has the
 * authority sign, and puts every attempt on record with the key's hash and the
 * serial number, never with the request itself.
 */
export class IssuanceService {
  readonly #accounts: Pick<Accounts, 'findLive'>;
  readonly #authority: SigningAuthority;
  readonly #blockedKeys: Pick<BlockedKeys, 'has'>;
  readonly #audit: CallerAudit;
  readonly #limit: SigningLimit;
  readonly #config: CertificatesConfig;

  constructor(options: {
    readonly accounts: Pick<Accounts, 'findLive'>;
    readonly authority: SigningAuthority;
    readonly blockedKeys: Pick<BlockedKeys, 'has'>;
    readonly auditor: AuditorService;
    readonly limit: SigningLimit;
    readonly config: CertificatesConfig;
  }) {
    this.#accounts = options.accounts;
    this.#authority = options.authority;
    this.#blockedKeys = options.blockedKeys;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-sign',
      severityLevel: 'medium',
    });
    this.#limit = options.limit;
    this.#config = options.config;
  }

  /**
   * The verdict on an order, rule by rule, without signing. Audited when it is
   * for another user.
   *
   * @throws TooManyRequestsError when the caller asks too often.
   */
  async check(
    order: SigningOrder,
    context: CallerContext,
  ): Promise<SigningJudgement> {
    const { caller } = context;
    const own = caller.account?.username?.toLowerCase();
    if (order.username.toLowerCase() === own) {
      return this.#judge(order, context);
    }
    const event = await this.#start(caller, order, { dryRun: 'true' });
    try {
      const judgement = await this.#judge(order, context);
      await event.success();
      return judgement;
    } catch (error) {
      await event.fail({ error: error as Error });
      throw error;
    }
  }

  async #judge(
    order: SigningOrder,
    context: CallerContext,
  ): Promise<SigningJudgement> {
    await this.#limit.consume(context.caller);
    const { username } = order;
    const subject = await this.#accounts.findLive({ username }, context);
    const reading = readCertificateRequest(order.csr);
    return judgeSigning({
      question: order,
      reading,
      isKeyBlocked:
        reading.ok &&
        (await this.#blockedKeys.has(reading.csr.publicKey.sha256)),
      caller: context.caller,
      subject,
      config: this.#config,
    });
  }

  /**
   * A signed certificate.
   *
   * @throws TooManyRequestsError when the caller asks too often.
   * @throws SigningRefusedError with the first rule that failed.
   * @throws what {@link CertificateAuthority.sign} throws.
   */
  async sign(
    order: SigningOrder,
    context: CallerContext,
  ): Promise<IssuedCertificate> {
    const event = await this.#start(context.caller, order);
    const meta: Record<string, string> = {};
    try {
      const judgement = await this.#judge(order, context);
      meta.keyHash = judgement.keyHash ?? 'unread';
      if (!judgement.approved) {
        throw new SigningRefusedError(judgement.verdicts);
      }
      const issued = await this.#authority.sign(judgement.approved);
      meta.serialNumber = serialOf(issued);
      await this.#requireUnblocked(meta.keyHash, meta.serialNumber);
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

  /**
   * Checks again after the CA signed: a key that was blocked in the meantime
   * gets no certificate. The one that exists now is revoked.
   */
  async #requireUnblocked(
    keyHash: string,
    serialNumber: string,
  ): Promise<void> {
    try {
      if (!(await this.#blockedKeys.has(keyHash))) {
        return;
      }
      await this.#authority.revoke({
        serialNumber: BigInt(serialNumber),
        reason: 'keyCompromise',
        revokedBy: 'directory-gateway',
      });
    } catch (error) {
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was issued, and its key may be blocked`,
        error,
      );
    }
    throw new SigningRefusedError([judgeKey(true)]);
  }

  /** Before the rules have judged an order, its texts may be anything. */
  #start(
    caller: Caller,
    order: SigningOrder,
    meta?: { readonly dryRun: 'true' },
  ): Promise<AuditorServiceEvent> {
    return this.#audit.start(caller, {
      ...meta,
      username: isUserName(order.username) ? order.username : 'invalid',
      profile: this.#config.profiles.has(order.profile)
        ? order.profile
        : 'unknown',
    });
  }
}

function serialOf(issued: IssuedCertificate): string {
  const description = describeCertificate(issued.certificate);
  return description.ok
    ? String(description.certificate.serialNumber)
    : 'unreadable';
}
