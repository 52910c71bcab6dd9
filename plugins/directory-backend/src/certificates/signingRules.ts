import type { CertificateRequest, GeneralName } from '@directory-gateway/x509';
import type { Principal } from '../directory/Principal';
import type { Caller } from '../directory/Caller';
import { type CertificatesConfig, isOpenTo } from './CertificatesConfig';

/**
 * FreeIPA's rules for the names of a user's request, with the user's addresses
 * and principals from the directory.
 */
export function judgeNames(
  request: CertificateRequest,
  subject: Principal,
): readonly RuleResult[] {
  return [
    judgeCommonName(request, subject),
    judgeOwned({
      rule: 'email_address',
      asked: request.subject.emailAddresses,
      owned: subject.emails,
      what: 'E-mail addresses in the subject',
    }),
    judgeOwned({
      rule: 'rfc822_name',
      asked: valuesOf(request, 'rfc822Name'),
      owned: subject.emails,
      what: 'E-mail addresses among the alternative names',
    }),
    judgeOwned({
      rule: 'principal_name',
      asked: [
        ...valuesOf(request, 'userPrincipalName'),
        ...valuesOf(request, 'krb5PrincipalName'),
      ],
      owned: subject.principalNames,
      what: 'Principals among the alternative names',
    }),
    judgeOtherNames(request),
  ];
}

/** The values of the alternative names of a kind. */
export function valuesOf(
  request: CertificateRequest,
  kind: 'rfc822Name' | 'userPrincipalName' | 'krb5PrincipalName',
): readonly string[] {
  return request.alternativeNames.flatMap(name =>
    name.kind === kind ? [name.value] : [],
  );
}

function judgeCommonName(
  { subject: { commonNames } }: CertificateRequest,
  { username }: Principal,
): RuleResult {
  if (commonNames.length !== 1) {
    return fail('common_name', 'The subject must have exactly one CN.');
  }
  return commonNames[0] === username
    ? pass('common_name', 'The CN is the user name.')
    : fail('common_name', 'The CN must be the user name, to the letter.');
}

function judgeOwned(options: {
  readonly rule: SigningRule;
  readonly asked: readonly string[];
  readonly owned: readonly string[];
  readonly what: string;
}): RuleResult {
  const { rule, asked, owned, what } = options;
  if (asked.length === 0) {
    return pass(rule, `${what}: none.`);
  }
  return asked.every(value => owned.includes(value))
    ? pass(rule, `${what} are the user's own.`)
    : fail(rule, `${what} must be the user's own.`);
}

const ALLOWED: ReadonlySet<GeneralName['kind']> = new Set([
  'rfc822Name',
  'userPrincipalName',
  'krb5PrincipalName',
]);

function judgeOtherNames({
  alternativeNames,
}: CertificateRequest): RuleResult {
  const others = alternativeNames.filter(({ kind }) => !ALLOWED.has(kind));
  return others.length === 0
    ? pass('other_name', 'There is no other alternative name.')
    : fail(
        'other_name',
        `A user's certificate may not have alternative names of the kind ${others[0].kind}.`,
      );
}

/**
 * What must hold before a certificate is signed, in the order in which FreeIPA
 * asks (`ipaserver/plugins/cert.py`).
 */
export const signingRules = [
  /** The user for whom it is exists and is in use. */
  'principal',
  /** Whoever asks may ask for this user. */
  'requester',
  /** The profile is offered, and to this user. */
  'profile',
  /** The request can be read, proves its key, and has a sound one. */
  'request',
  /** The key was not revoked for `keyCompromise`. */
  'key',
  /** Exactly one common name: the user name, to the letter. */
  'common_name',
  /** E-mail addresses in the subject are the user's. */
  'email_address',
  /** E-mail addresses among the alternative names are the user's. */
  'rfc822_name',
  /** Principal names among the alternative names are the user's. */
  'principal_name',
  /** There is no alternative name of another kind. */
  'other_name',
] as const;

/** The stable name of a rule. */
export type SigningRule = (typeof signingRules)[number];

/** How one rule came out. */
export interface RuleResult {
  readonly rule: SigningRule;
  /** `undefined` when it was not evaluated. */
  readonly passed: boolean | undefined;
  /** A sentence for whoever asks. */
  readonly message: string;
  /** Of a rule that failed: whether the request is wrong or not theirs to make. */
  readonly refusal?: 'invalid' | 'forbidden';
}

/** A verdict that something holds. */
export function pass(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: true, message };
}

/** A verdict that the request is wrong. */
export function fail(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: false, message, refusal: 'invalid' };
}

/** A verdict that the request is somebody else's to make. */
export function forbid(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: false, message, refusal: 'forbidden' };
}

/** A verdict of a rule that was not evaluated. */
export function skip(rule: SigningRule): RuleResult {
  return { rule, passed: undefined, message: 'Not checked.' };
}

/** Whether a certificate can be issued to this entry at all. */
export function judgePrincipal(subject: Principal | undefined): RuleResult {
  if (!subject || subject.kind !== 'user' || !subject.canonicalName) {
    return fail('principal', 'There is no such user.');
  }
  const isExpired = subject.expires && subject.expires.getTime() <= Date.now();
  if (subject.locked || isExpired) {
    return fail('principal', 'The account is locked or expired.');
  }
  return pass('principal', 'The user exists and is in use.');
}

/** Whether this caller may ask for this user. */
export function judgeRequester(options: {
  readonly caller: Caller;
  readonly subject: Principal;
  readonly config: CertificatesConfig;
}): RuleResult {
  const { caller, subject, config } = options;
  const refusal = refusalOf(caller, config);
  if (refusal !== undefined) {
    return forbid('requester', refusal);
  }
  if (caller.account?.dn === subject.dn) {
    return pass('requester', 'You ask for yourself.');
  }
  if (!config.signers.has(caller)) {
    return forbid('requester', 'You may ask for yourself only.');
  }
  return config.protectedGroups.some(group => subject.groups.has(group))
    ? forbid('requester', 'Only this user themself may ask.')
    : pass('requester', 'You may ask for others.');
}

/** Whether the caller may request certificates at all. */
export function mayRequestCertificates(
  caller: Caller,
  config: CertificatesConfig,
): boolean {
  return refusalOf(caller, config) === undefined;
}

function refusalOf(
  caller: Caller,
  config: CertificatesConfig,
): string | undefined {
  if (!caller.account) {
    return 'You have no identity in the directory.';
  }
  if (isPortalTokenMissing(caller, config)) {
    return 'A Kerberos ticket is not enough to request certificates. Sign in to the portal and request the certificate there.';
  }
  return caller.kind === 'portalUser' && !config.portalUsersMayRequest
    ? 'Certificates are requested with a Kerberos ticket here.'
    : undefined;
}

/** Whether `requirePortalToken` denies signing and revoking to the caller. */
export function isPortalTokenMissing(
  caller: Caller,
  config: Pick<CertificatesConfig, 'requirePortalToken'>,
): boolean {
  return config.requirePortalToken && caller.kind === 'kerberos';
}

/** Whether the profile is offered, and to this user. */
export function judgeProfile(options: {
  readonly profile: string;
  readonly subject: Principal;
  readonly config: CertificatesConfig;
}): RuleResult {
  const { profile: name, subject, config } = options;
  const profile = config.profiles.get(name);
  if (!profile) {
    return fail('profile', 'There is no such certificate profile.');
  }
  return isOpenTo(profile, subject)
    ? pass('profile', 'The profile is open to this user.')
    : forbid('profile', 'The profile is not open to this user.');
}
