import type {
  CertificateAuthority,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateRequest,
  CertificateRequestResult,
} from '@directory-gateway/x509';
import type { Caller, Principal } from '@directory-gateway/directory-core';
import type { CertificatesConfig } from './CertificatesConfig';
import {
  type RuleResult,
  checkKey,
  checkNames,
  checkPrincipal,
  checkProfile,
  checkRequester,
  checkSignature,
  fail,
  pass,
  signingRules,
  valuesOf,
} from './signingRules';

/** A request that has passed all rules, without a serial number. */
export type ApprovedRequest = Omit<SigningRequest, 'serialNumber'>;

/** The results of all rules, and the approved request if all passed. */
export interface PolicyResult {
  /** One result for each rule, in the order of the rules. */
  readonly checks: readonly RuleResult[];
  /** Set when all rules passed. */
  readonly approved?: ApprovedRequest;
  /** SHA-256 of the public key in lower-case hex, if the CSR is valid. */
  readonly keyHash?: string;
}

/**
 * Evaluates all rules. A rule that depends on another rule (the user, the CSR)
 * is not evaluated when that one fails.
 *
 * A caller who may not request certificates for another user gets only the
 * results of the rules `requester` and `profile`: the others would reveal the
 * user's lock, e-mail addresses and aliases. If the caller is not a
 * signer, a user that is hidden from the caller is treated as unknown.
 */
export function evaluatePolicy(options: {
  readonly profile: string;
  readonly parsedCsr: CertificateRequestResult;
  /** Whether the key of the CSR was revoked for `keyCompromise`. */
  readonly isKeyBlocked: boolean;
  readonly keyTypes?: CertificateAuthority['keyTypes'];
  readonly caller: Caller;
  readonly subject: Principal | undefined;
  /** Whether the API shows the subject to the caller. */
  readonly isVisible: boolean;
  readonly config: CertificatesConfig;
}): PolicyResult {
  const { profile, parsedCsr, caller, config } = options;
  const access = options.subject && [
    checkRequester({ caller, subject: options.subject, config }),
    checkProfile({ profile, subject: options.subject, config }),
  ];
  const isDenied =
    access?.[0].passed === false && caller.account?.dn !== options.subject?.dn;
  const isHidden =
    isDenied && !options.isVisible && !config.signers.has(caller);
  const subject = isHidden ? undefined : options.subject;
  const csr = parsedCsr.ok ? parsedCsr.csr : undefined;
  const keyHash = csr?.publicKey.sha256;
  if (isDenied && subject) {
    return { checks: inOrder(access), keyHash };
  }
  const principal = checkPrincipal(subject);
  const checks = inOrder([
    principal,
    ...(principal.passed && access ? access : []),
    parsedCsr.ok
      ? pass('request', 'The CSR is valid and proves possession of its key.')
      : fail('request', parsedCsr.message),
    ...(csr
      ? [checkSignature(csr, options) ?? checkKey(options.isKeyBlocked)]
      : []),
    ...(csr && subject ? checkNames(csr, subject) : []),
  ]);
  const isApproved = checks.every(({ passed }) => passed);
  return {
    checks,
    keyHash,
    ...(csr &&
      subject &&
      isApproved && { approved: approve(csr, { subject, profile, caller }) }),
  };
}

/** Returns one result for each rule, in the order of the rules. */
function inOrder(results: readonly RuleResult[]): readonly RuleResult[] {
  return signingRules.map(
    rule =>
      results.find(result => result.rule === rule) ?? {
        rule,
        passed: undefined,
        message: 'Not checked.',
      },
  );
}

function approve(
  csr: CertificateRequest,
  options: {
    readonly subject: Principal;
    readonly profile: string;
    readonly caller: Caller;
  },
): ApprovedRequest {
  const { subject, profile, caller } = options;
  return {
    username: subject.username!,
    principal: subject.canonicalName!,
    profile,
    csr: csr.der,
    publicKey: csr.publicKey.spki,
    alternativeNames: {
      emails: valuesOf(csr, 'rfc822Name'),
      userPrincipalNames: valuesOf(csr, 'userPrincipalName'),
      kerberosPrincipalNames: valuesOf(csr, 'krb5PrincipalName'),
    },
    requestedBy:
      caller.account?.username ?? caller.account?.service ?? caller.kind,
  };
}
