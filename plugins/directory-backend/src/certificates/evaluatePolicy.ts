import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateRequest,
  CertificateRequestResult,
} from '@directory-gateway/x509';
import type { Caller } from '../directory/Caller';
import type { Principal } from '../directory/Principal';
import type { CertificatesConfig } from './CertificatesConfig';
import { judgeNames, valuesOf } from './signingRules';
import { judgePrincipal, judgeProfile, judgeRequester } from './signingRules';
import {
  fail,
  pass,
  signingRules,
  skip,
  type RuleResult,
} from './signingRules';

/** What is asked for, as it came. */
export interface SigningQuestion {
  /** Name of the profile. */
  readonly profile: string;
  /** The CSR: PEM, or base64 without armour. */
  readonly csr: string;
}

/** How every rule came out, and what may be signed when all passed. */
export interface SigningJudgement {
  /** One for each rule, in the order of the rules. */
  readonly verdicts: readonly RuleResult[];
  /** Set when every rule passed. */
  readonly approved?: SigningRequest;
  /** SHA-256 of the public key, lower-case hex, once the CSR was read. */
  readonly keyHash?: string;
}

/**
 * Evaluates every rule. A rule that depends on an earlier one (the user, the
 * CSR) is not evaluated when that one fails.
 *
 * For another user, a caller who may not request gets the results of the rules
 * `requester` and `profile` only: others would reveal the user's lock, e-mail
 * addresses and aliases. To a caller who is not a signer, a user whom the API
 * does not serve is unknown.
 */
export function judgeSigning(options: {
  readonly question: SigningQuestion;
  readonly caller: Caller;
  readonly subject: Principal | undefined;
  readonly config: CertificatesConfig;
  /** The CSR as it was read. */
  readonly reading: CertificateRequestResult;
  /** Whether the key of the CSR was revoked for `keyCompromise`. */
  readonly isKeyBlocked: boolean;
}): SigningJudgement {
  const { question, caller, config, reading } = options;
  const access = options.subject && [
    judgeRequester({ caller, subject: options.subject, config }),
    judgeProfile({
      profile: question.profile,
      subject: options.subject,
      config,
    }),
  ];
  const isStranger =
    access?.[0].passed === false && caller.account?.dn !== options.subject?.dn;
  const isUnknown =
    isStranger && !options.subject?.served && !config.signers.has(caller);
  const subject = isUnknown ? undefined : options.subject;
  const keyHash = reading.ok ? reading.csr.publicKey.sha256 : undefined;
  if (isStranger && subject) {
    return { verdicts: inOrder(access), keyHash };
  }
  const principal = judgePrincipal(subject);
  const all = inOrder([
    principal,
    ...(principal.passed && access ? access : []),
    reading.ok
      ? pass('request', 'The request can be read and proves its key.')
      : fail('request', reading.message),
    ...(reading.ok ? [judgeKey(options.isKeyBlocked)] : []),
    ...(reading.ok && subject ? judgeNames(reading.csr, subject) : []),
  ]);
  const isApproved = all.every(({ passed }) => passed);
  return {
    verdicts: all,
    keyHash,
    ...(reading.ok && subject && isApproved
      ? {
          approved: approve(reading.csr, {
            subject,
            profile: question.profile,
            requestedBy: nameOf(caller),
          }),
        }
      : {}),
  };
}

/** One verdict for each rule; a rule without one was not evaluated. */
function inOrder(found: readonly RuleResult[]): readonly RuleResult[] {
  return signingRules.map(
    rule => found.find(verdict => verdict.rule === rule) ?? skip(rule),
  );
}

function approve(
  request: CertificateRequest,
  options: {
    readonly subject: Principal;
    readonly profile: string;
    readonly requestedBy: string;
  },
): SigningRequest {
  const { subject, profile, requestedBy } = options;
  return {
    username: subject.username!,
    principal: subject.canonicalName!,
    profile,
    csr: request.der,
    publicKey: request.publicKey.spki,
    alternativeNames: {
      emails: valuesOf(request, 'rfc822Name'),
      userPrincipalNames: valuesOf(request, 'userPrincipalName'),
      kerberosPrincipalNames: valuesOf(request, 'krb5PrincipalName'),
    },
    requestedBy,
  };
}

/** Evaluates the rule `key`. */
export function judgeKey(isBlocked: boolean): RuleResult {
  return isBlocked
    ? fail(
        'key',
        'This key was revoked as compromised. Generate a new key and request a certificate for that.',
      )
    : pass('key', 'The key was not revoked as compromised.');
}

/** Who asks, for records: a user name, or a service without its realm. */
function nameOf(caller: Caller): string {
  return caller.account?.username ?? caller.account?.service ?? caller.kind;
}
