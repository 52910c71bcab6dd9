import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateRequest,
  GeneralName,
  RequestSignature,
} from '@directory-gateway/x509';
import type { Caller, Principal } from '@directory-gateway/directory-core';
import { type CertificatesConfig, isOpenTo } from './CertificatesConfig';

/**
 * The rules of a signing request, in the order in which FreeIPA checks them
 * (`ipaserver/plugins/cert.py`).
 */
export const signingRules = [
  /** The user exists and is not locked or expired. */
  'principal',
  /** The caller may request certificates for this user. */
  'requester',
  /** The profile exists and is open to this user. */
  'profile',
  /** The CSR is valid, proves possession of its key, and the key is strong. */
  'request',
  /** The CA accepts the signature algorithm, and the key is not blocked. */
  'key',
  /** The subject has exactly one CN, which is the user name. */
  'common_name',
  /** E-mail addresses in the subject belong to the user. */
  'email_address',
  /** E-mail addresses in the alternative names belong to the user. */
  'rfc822_name',
  /** Principal names in the alternative names belong to the user. */
  'principal_name',
  /** The CSR has no alternative names of other types. */
  'other_name',
] as const;

/** Stable name of a rule. */
export type SigningRule = (typeof signingRules)[number];

/** Result of a rule. */
export interface RuleResult {
  readonly rule: SigningRule;
  /** `undefined` when the rule was not evaluated. */
  readonly passed: boolean | undefined;
  /** Sentence for the caller. */
  readonly message: string;
  /**
   * Reason why the rule failed: the request is wrong (`invalid`) or the caller
   * may not make it (`forbidden`).
   */
  readonly denial?: 'invalid' | 'forbidden';
}

/** Returns the result of a rule that passed. */
export function pass(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: true, message };
}

/** Returns the result of a rule that failed because the request is wrong. */
export function fail(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: false, message, denial: 'invalid' };
}

function forbid(rule: SigningRule, message: string): RuleResult {
  return { rule, passed: false, message, denial: 'forbidden' };
}

/** Evaluates `principal`: whether a certificate can be issued to the user. */
export function checkPrincipal(subject: Principal | undefined): RuleResult {
  if (!subject || subject.kind !== 'user' || !subject.canonicalName) {
    return fail('principal', 'There is no such user.');
  }
  const isExpired = subject.expires && subject.expires.getTime() <= Date.now();
  return subject.locked || isExpired
    ? fail('principal', 'The account is locked or expired.')
    : pass('principal', 'The user exists and is active.');
}

/** Evaluates `requester`: whether the caller may request for the user. */
export function checkRequester(options: {
  readonly caller: Caller;
  readonly subject: Principal;
  readonly config: CertificatesConfig;
}): RuleResult {
  const { caller, subject, config } = options;
  const denial = denialOf(caller, config);
  if (denial !== undefined) {
    return forbid('requester', denial);
  }
  if (caller.account?.dn === subject.dn) {
    return pass('requester', 'You request a certificate for yourself.');
  }
  if (!config.signers.has(caller)) {
    return forbid(
      'requester',
      'You may request certificates only for yourself.',
    );
  }
  const groups = subject.possibleGroups ?? subject.groups;
  return config.protectedGroups.some(group => groups.has(group))
    ? forbid('requester', 'Only this user may request their certificates.')
    : pass('requester', 'You may request certificates for other users.');
}

/** Returns whether the caller may request certificates at all. */
export function mayRequestCertificates(
  caller: Caller,
  config: CertificatesConfig,
): boolean {
  return denialOf(caller, config) === undefined;
}

function denialOf(
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
    ? 'Portal users cannot request certificates here. Use a Kerberos ticket.'
    : undefined;
}

/** Returns whether `requirePortalToken` denies signing and revoking. */
export function isPortalTokenMissing(
  caller: Caller,
  config: Pick<CertificatesConfig, 'requirePortalToken'>,
): boolean {
  return config.requirePortalToken && caller.kind === 'kerberos';
}

/** Evaluates `profile`: whether it exists and is open to the user. */
export function checkProfile(options: {
  readonly profile: string;
  readonly subject: Principal;
  readonly config: CertificatesConfig;
}): RuleResult {
  const profile = options.config.profiles.get(options.profile);
  if (!profile) {
    return fail('profile', 'There is no such certificate profile.');
  }
  return isOpenTo(profile, options.subject)
    ? pass('profile', 'The profile is open to this user.')
    : forbid('profile', 'The profile is not open to this user.');
}

const SIGNATURE_NAMES: Readonly<Record<RequestSignature, string>> = {
  rsa: 'RSA (PKCS #1 v1.5)',
  'rsa-pss': 'RSASSA-PSS',
  ec: 'ECDSA',
  ed25519: 'Ed25519',
};

/** Evaluates `key`: the result if the CA does not accept the signature. */
export function checkSignature(
  { signature }: CertificateRequest,
  { keyTypes }: Pick<CertificateAuthority, 'keyTypes'>,
): RuleResult | undefined {
  if (!keyTypes || keyTypes.has(signature)) {
    return undefined;
  }
  const accepted = [...keyTypes].map(name => SIGNATURE_NAMES[name]);
  return fail(
    'key',
    `The certificate authority does not accept requests with ${SIGNATURE_NAMES[signature]} signatures, only ${accepted.join(' or ')}.`,
  );
}

/** Evaluates `key`: whether it was revoked for `keyCompromise`. */
export function checkKey(isBlocked: boolean): RuleResult {
  return isBlocked
    ? fail(
        'key',
        'This key was revoked as compromised. Generate a new key and request a certificate for it.',
      )
    : pass('key', 'The key was not revoked as compromised.');
}

/** Evaluates the rules for names like FreeIPA. */
export function checkNames(
  csr: CertificateRequest,
  subject: Principal,
): readonly RuleResult[] {
  return [
    checkCommonName(csr, subject),
    checkOwned({
      rule: 'email_address',
      values: csr.subject.emailAddresses,
      owned: subject.emails,
      label: 'E-mail addresses in the subject',
    }),
    checkOwned({
      rule: 'rfc822_name',
      values: valuesOf(csr, 'rfc822Name'),
      owned: subject.emails,
      label: 'E-mail addresses among the alternative names',
    }),
    checkOwned({
      rule: 'principal_name',
      values: [
        ...valuesOf(csr, 'userPrincipalName'),
        ...valuesOf(csr, 'krb5PrincipalName'),
      ],
      owned: subject.principalNames,
      label: 'Principals among the alternative names',
    }),
    checkOtherNames(csr),
  ];
}

type AllowedName = 'rfc822Name' | 'userPrincipalName' | 'krb5PrincipalName';

/** Returns the alternative names of a type. */
export function valuesOf(
  csr: CertificateRequest,
  kind: AllowedName,
): readonly string[] {
  return csr.alternativeNames.flatMap(name =>
    name.kind === kind ? [name.value] : [],
  );
}

function checkCommonName(
  { subject: { commonNames } }: CertificateRequest,
  { username }: Principal,
): RuleResult {
  if (commonNames.length !== 1) {
    return fail('common_name', 'The subject must have exactly one CN.');
  }
  return commonNames[0] === username
    ? pass('common_name', 'The CN is the user name.')
    : fail('common_name', 'The CN must be exactly the user name.');
}

function checkOwned(options: {
  readonly rule: SigningRule;
  readonly values: readonly string[];
  readonly owned: readonly string[];
  readonly label: string;
}): RuleResult {
  const { rule, values, owned, label } = options;
  if (values.length === 0) {
    return pass(rule, `${label}: none.`);
  }
  return values.every(value => owned.includes(value))
    ? pass(rule, `${label} belong to the user.`)
    : fail(rule, `${label} must belong to the user.`);
}

const ALLOWED_NAMES: ReadonlySet<GeneralName['kind']> = new Set<AllowedName>([
  'rfc822Name',
  'userPrincipalName',
  'krb5PrincipalName',
]);

function checkOtherNames({ alternativeNames }: CertificateRequest): RuleResult {
  const other = alternativeNames.find(({ kind }) => !ALLOWED_NAMES.has(kind));
  return other
    ? fail(
        'other_name',
        `A user's certificate must not have alternative names of type ${other.kind}.`,
      )
    : pass('other_name', 'There are no other alternative names.');
}
