import type { AuditorService } from '@backstage/backend-plugin-api';
import { assertError } from '@backstage/errors';
import {
  OutcomeUnknownError,
  type CertificateAuthority,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readCertificateRequest } from '@directory-gateway/x509';
import { createHash } from 'node:crypto';
import type { Accounts } from '../directory/Accounts';
import type { Caller, CallerContext } from '../directory/Caller';
import { CallerAudit } from '../directory/CallerAudit';
import type { RequestContext } from '../directory/Directory';
import { ON_HOLD } from './CertificateAuthorities';
import type { BlockedKeys } from './BlockedKeys';
import type {
  CertificateRecord,
  CertificateRecords,
  Renewal,
} from './CertificateRecords';
import {
  FreshProofRequiredError,
  RenewalRefusedError,
  SigningRefusedError,
} from './errors';
import type { IssuanceService } from './IssuanceService';
import type { KeyProofs } from './KeyProofs';
import { checkPrincipal, fail } from './signingRules';

/** Maximum age of a portal token that proves a recent authentication. */
const FRESH_MS = 5 * 60_000;

/**
 * Returns whether a caller has authenticated recently: with a SPNEGO token or a
 * signature by the certificate's key on this request, or by signing in to the
 * portal.
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
      return caller.kind === 'certificate';
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
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly auditor: AuditorService;
  /** A CA that also revokes certificates that were renewed too late. */
  readonly authority: Required<Pick<CertificateAuthority, 'get' | 'revoke'>>;
  readonly blockedKeys: Pick<BlockedKeys, 'block' | 'has'>;
  readonly issuance: Pick<IssuanceService, 'sign'>;
  readonly proofs: Pick<KeyProofs, 'accept' | 'requireNonce'>;
  readonly records: Pick<CertificateRecords, 'get'>;
}

/**
 * Renews certificates for their owners: with the same profile and label, for
 * the same account, and under the rules of every signing request. The owner is
 * authenticated or has the keys of both certificates. Audits every attempt by
 * an owner.
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
   * Renews a certificate of an authenticated caller.
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
    return this.#audited(request, context, async () => {
      const record = await this.#options.records.get(request.serialNumber);
      if (!record || !isOwner(context.caller, record)) {
        throw new RenewalRefusedError(
          'Certificates can be renewed only by their owner, and only if this gateway issued them.',
        );
      }
      if (!hasFreshProof(context.caller)) {
        throw new FreshProofRequiredError(
          'To renew a certificate, sign in to the portal again, send a Kerberos ticket with the request, or sign a nonce with the key of the certificate.',
        );
      }
      return this.#renew(record, { request, context });
    });
  }

  /**
   * Renews a certificate for the holder of its key.
   *
   * @param options.authorize - rejects when the account may not request
   *   certificates
   * @throws KeyProofRefusedError when the nonce or signature is refused.
   * @throws the errors of {@link renew}.
   */
  async renewByKey(
    request: RenewalRequest & {
      readonly nonce: string;
      readonly signature: string;
    },
    options: RequestContext &
      Pick<Caller, 'client'> & {
        readonly authorize: (caller: Caller) => Promise<void>;
      },
  ): Promise<IssuedCertificate> {
    const { serialNumber, nonce, signature } = request;
    const { client, signal } = options;
    // Checked before the signature of the CSR is verified.
    this.#options.proofs.requireNonce({ serialNumber, nonce });
    const parsed = readCertificateRequest(request.csr);
    if (!parsed.ok) {
      throw new SigningRefusedError(fail('request', parsed.message));
    }
    const { der } = parsed.csr;
    const record = await this.#options.proofs.accept({
      serialNumber,
      purpose: 'renewal',
      subject: createHash('sha256').update(der).digest('hex'),
      nonce,
      signature,
    });
    const kind = 'certificate' as const;
    const holder: Caller = { kind, serialNumber, client };
    return this.#audited(request, { caller: holder, signal }, async () => {
      const { username, subjectId } = record;
      if (subjectId === undefined) {
        throw new RenewalRefusedError(
          'The account of the certificate is not known. Renew it with a Kerberos ticket or in the portal.',
        );
      }
      const account = await this.#options.accounts.findLive(
        { username },
        { signal },
      );
      const check = checkPrincipal(account);
      if (!account || !check.passed) {
        throw new SigningRefusedError(check);
      }
      const caller: Caller = { ...holder, account };
      if (!isOwner(caller, record)) {
        throw new RenewalRefusedError(
          'The certificate belongs to another account with the same name.',
        );
      }
      await options.authorize(caller);
      return this.#renew(record, { request, context: { caller, signal } });
    });
  }

  async #renew(
    record: CertificateRecord,
    options: {
      readonly request: RenewalRequest;
      readonly context: CallerContext;
    },
  ): Promise<IssuedCertificate> {
    const { serialNumber, profile, label } = record;
    const { caller } = options.context;
    if (record.notAfter.getTime() <= Date.now()) {
      throw new RenewalRefusedError(
        'The certificate has expired. Request a new certificate.',
      );
    }
    if (profile === undefined) {
      throw new RenewalRefusedError(
        'The profile of the certificate is unknown. Request a new certificate.',
      );
    }
    const refusal = await this.#refusalOf(record);
    if (refusal) {
      throw refusal;
    }
    const renewal = {
      from: serialNumber,
      byKey: caller.kind === 'certificate',
    };
    const issued = await this.#options.issuance.sign(
      {
        username: caller.account?.username ?? '',
        profile,
        csr: options.request.csr,
        label,
        renewal,
      },
      options.context,
    );
    await this.#requireValid(record, { issued, renewal });
    return issued;
  }

  /**
   * Returns why a certificate cannot be renewed: it is revoked, or its key is
   * blocked.
   */
  async #refusalOf({
    serialNumber,
    publicKey,
  }: CertificateRecord): Promise<RenewalRefusedError | undefined> {
    const { authority } = this.#options;
    if (await this.#isBlocked(publicKey)) {
      return new RenewalRefusedError(
        'The key of the certificate was revoked as compromised. Request a new certificate with another key.',
      );
    }
    const issued = await authority.get(serialNumber);
    if (issued && !issued.revocation) {
      return undefined;
    }
    return new RenewalRefusedError(
      issued?.revocation?.reason === ON_HOLD
        ? 'The certificate is on hold.'
        : 'The certificate is revoked. Request a new one.',
    );
  }

  #isBlocked(publicKey: Buffer): Promise<boolean> {
    const keyHash = createHash('sha256').update(publicKey).digest('hex');
    return this.#options.blockedKeys.has(keyHash);
  }

  /**
   * Checks the old certificate again after the CA has signed, and revokes the
   * new one if the old one was revoked in the meantime. A revocation for
   * `keyCompromise` finds every renewal that is recorded before it blocks the
   * key.
   */
  async #requireValid(
    record: CertificateRecord,
    {
      issued: { certificate },
      renewal,
    }: { readonly issued: IssuedCertificate; readonly renewal: Renewal },
  ): Promise<void> {
    const { authority, blockedKeys } = this.#options;
    const { description } = certificate;
    if (!description.ok) {
      return;
    }
    const { serialNumber } = description.certificate;
    const revokedBy = 'directory-gateway';
    let refusal: RenewalRefusedError | undefined;
    try {
      refusal = await this.#refusalOf(record);
      if (!refusal) {
        return;
      }
      const isCompromised =
        renewal.byKey && (await this.#isBlocked(record.publicKey));
      if (isCompromised) {
        await blockedKeys.block(certificate, { blockedBy: revokedBy });
      }
      await authority.revoke({
        serialNumber,
        reason: isCompromised ? 'keyCompromise' : 'privilegeWithdrawn',
        revokedBy,
      });
    } catch (error) {
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was issued, but certificate ${record.serialNumber}, which it renews, may be revoked`,
        error,
      );
    }
    throw refusal;
  }

  async #audited(
    { serialNumber }: RenewalRequest,
    { caller }: CallerContext,
    renew: () => Promise<IssuedCertificate>,
  ): Promise<IssuedCertificate> {
    const event = await this.#audit.start(caller, {
      serialNumber: String(serialNumber),
    });
    try {
      const issued = await renew();
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
}
