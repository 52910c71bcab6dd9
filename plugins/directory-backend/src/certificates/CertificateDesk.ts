import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { describeCertificate } from '@directory-gateway/x509';
import type { Caller } from '../directory/Caller';
import type { Directory, DirectoryContext } from '../directory/Directory';
import type { CertificatesConfig } from './CertificatesConfig';
import {
  judgeSigning,
  nameOf,
  type SigningJudgement,
  type SigningQuestion,
} from './judgeSigning';
import type { SigningLimit } from './SigningLimit';
import { SigningRefusedError } from './SigningRefusedError';

/** A question, and for whom it is. */
export type SigningOrder = SigningQuestion & { readonly username: string };

/**
 * Where certificates are asked for: counts, decides by the rules, has the
 * authority sign, and puts every attempt on record with the key's hash and the
 * serial number, never with the request itself.
 */
export class CertificateDesk {
  readonly #directory: Pick<Directory, 'findPrincipal'>;
  readonly #authority: Pick<CertificateAuthority, 'sign'>;
  readonly #auditor: AuditorService;
  readonly #limit: SigningLimit;
  readonly #config: CertificatesConfig;

  constructor(options: {
    readonly directory: Pick<Directory, 'findPrincipal'>;
    readonly authority: Pick<CertificateAuthority, 'sign'>;
    readonly auditor: AuditorService;
    readonly limit: SigningLimit;
    readonly config: CertificatesConfig;
  }) {
    this.#directory = options.directory;
    this.#authority = options.authority;
    this.#auditor = options.auditor;
    this.#limit = options.limit;
    this.#config = options.config;
  }

  /**
   * The verdict on an order, rule by rule, without signing.
   *
   * @throws TooManyRequestsError when the caller asks too often.
   */
  async judge(
    order: SigningOrder,
    context: DirectoryContext,
  ): Promise<SigningJudgement> {
    await this.#limit.consume(context.caller);
    // Straight from the directory: a lock of this second counts.
    const subject = await this.#directory.findPrincipal(order, context);
    return judgeSigning({
      question: order,
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
    context: DirectoryContext,
  ): Promise<IssuedCertificate> {
    const event = await this.#record(context.caller, order);
    const meta: Record<string, string> = {};
    try {
      const judgement = await this.judge(order, context);
      meta.keyHash = judgement.keyHash ?? 'unread';
      if (!judgement.approved) {
        throw new SigningRefusedError(judgement.verdicts);
      }
      const issued = await this.#authority.sign(judgement.approved);
      meta.serialNumber = serialOf(issued);
      await event.success({ meta });
      return issued;
    } catch (error) {
      await event.fail({ meta, error: error as Error });
      throw error;
    }
  }

  /** Puts on record that somebody may not even place an order. */
  async recordRefusal(caller: Caller, error: Error): Promise<void> {
    const event = await this.#record(caller);
    // The auditor spreads an error over the event, whose status it would hide.
    const { name, message } = error;
    await event.fail({ error: Object.assign(new Error(message), { name }) });
  }

  /** The request itself is not handed over: its address may hold a CSR. */
  #record(caller: Caller, order?: SigningOrder): Promise<AuditorServiceEvent> {
    return this.#auditor.createEvent({
      eventId: 'certificate-sign',
      severityLevel: 'medium',
      meta: {
        requestedBy: nameOf(caller),
        ...(order && { username: order.username, profile: order.profile }),
      },
    });
  }
}

function serialOf(issued: IssuedCertificate): string {
  const description = describeCertificate(issued.certificate);
  return description.ok
    ? String(description.certificate.serialNumber)
    : 'unreadable';
}
