import type { AuditorService } from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';
import {
  type Caller,
  CallerAudit,
  type CallerContext,
} from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from './CertificateAuthorities';
import { FreshProofRequiredError, RenewalRefusedError } from './errors';
import type { IssuanceService } from './IssuanceService';
import type {
  CertificateRecord,
  CertificateRecords,
} from './records/CertificateRecords';
import { ON_HOLD } from './records/RevocationTable';

/** Maximum age of a portal token that proves a recent authentication. */
const FRESH_MS = 5 * 60_000;

/**
 * Returns whether a caller has authenticated recently: with a SPNEGO token on
 * this request, or by signing in to the portal.
 */
export function hasFreshProof(caller: Caller): boolean {
  switch (caller.kind) {
    case 'kerberos':
      return caller.credential === 'ticket';
    case 'portalUser':
      return (
        caller.issuedAt !== undefined &&
        Math.abs(Date.now() - caller.issuedAt.getTime()) <= FRESH_MS
      );
    default:
      return false;
  }
}

/**
 * Returns whether a caller is the account to which a certificate was issued.
 */
export function isOwner(
  { account }: Caller,
  record: Pick<CertificateRecord, 'username' | 'subjectId'>,
): boolean {
  return record.subjectId === undefined
    ? account?.username === record.username
    : account?.stableId === record.subjectId;
}

/** A request to renew a certificate. */
export interface RenewalRequest {
  readonly serialNumber: bigint;
  /** The CSR: PEM, or Base64 without armor. */
  readonly csr: string;
}

/** Options of {@link RenewalService}. */
export interface RenewalServiceOptions {
  readonly auditor: AuditorService;
  readonly authorities: Pick<CertificateAuthorities, 'get'>;
  readonly issuance: Pick<IssuanceService, 'sign'>;
  readonly records: Pick<CertificateRecords, 'find'>;
}

/**
 * Renews certificates for their owners: with the same profile and label, for
 * the same account, and under the rules of every signing request. Audits every
 * attempt.
 */
export class RenewalService {
  readonly #options: RenewalServiceOptions;
  readonly #audit: CallerAudit;

  constructor(options: RenewalServiceOptions) {
    this.#options = options;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-renew',
      severityLevel: 'medium',
    });
  }

  /**
   * Renews a certificate of the caller.
   *
   * @throws FreshProofRequiredError when the caller has not authenticated
   *   recently.
   * @throws RenewalRefusedError when the certificate cannot be renewed.
   * @throws the errors of {@link IssuanceService.sign}.
   */
  async renew(
    request: RenewalRequest,
    context: CallerContext,
  ): Promise<IssuedCertificate> {
    const event = await this.#audit.start(context.caller, {
      serialNumber: String(request.serialNumber),
    });
    try {
      const issued = await this.#renew(request, context);
      const { description } = issued.certificate;
      await event.success({
        meta: {
          renewedAs: description.ok
            ? String(description.certificate.serialNumber)
            : 'unreadable',
        },
      });
      return issued;
    } catch (error) {
      assertError(error);
      await event.fail({ error });
      throw error;
    }
  }

  async #renew(
    { serialNumber, csr }: RenewalRequest,
    context: CallerContext,
  ): Promise<IssuedCertificate> {
    const { caller } = context;
    const { authorities, issuance, records } = this.#options;
    const found = await records.find(serialNumber);
    const record = found.find(each => isOwner(caller, each));
    if (!record) {
      throw new RenewalRefusedError(
        'Certificates can be renewed only by their owner, and only if this gateway issued them.',
      );
    }
    if (!hasFreshProof(caller)) {
      throw new FreshProofRequiredError(
        'To renew a certificate, sign in to the portal again, or send a Kerberos ticket with the request.',
      );
    }
    if (record.notAfter.getTime() <= Date.now()) {
      throw new RenewalRefusedError(
        'The certificate has expired. Request a new certificate.',
      );
    }
    const { profile, label } = record;
    if (profile === undefined) {
      throw new RenewalRefusedError(
        'The profile of the certificate is unknown. Request a new certificate.',
      );
    }
    const issued = await authorities.get(serialNumber);
    if (issued?.record?.id !== record.id || issued.revocation) {
      throw new RenewalRefusedError(
        issued?.revocation?.reason === ON_HOLD
          ? 'The certificate is on hold.'
          : 'The certificate is revoked. Request a new one.',
      );
    }
    const username = caller.account?.username ?? '';
    return issuance.sign(
      { username, profile, csr, label, renewedFrom: serialNumber },
      context,
    );
  }
}
