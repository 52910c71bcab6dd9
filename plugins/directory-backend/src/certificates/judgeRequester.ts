import type { Caller } from '../directory/Caller';
import type { Principal } from '../directory/Principal';
import { isOpenTo } from './CertificateProfile';
import type { CertificatesConfig } from './CertificatesConfig';
import { fail, forbid, pass, type RuleVerdict } from './SigningRule';

/** Whether a certificate can be issued to this entry at all. */
export function judgePrincipal(subject: Principal | undefined): RuleVerdict {
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
}): RuleVerdict {
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
}): RuleVerdict {
  const { profile: name, subject, config } = options;
  const profile = config.profiles.get(name);
  if (!profile) {
    return fail('profile', 'There is no such certificate profile.');
  }
  return isOpenTo(profile, subject)
    ? pass('profile', 'The profile is open to this user.')
    : forbid('profile', 'The profile is not open to this user.');
}
