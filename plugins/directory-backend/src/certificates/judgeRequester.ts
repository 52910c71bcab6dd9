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
  if (!caller.account) {
    return forbid('requester', 'You have no identity in the directory.');
  }
  if (caller.kind === 'portalUser' && !config.portalUsersMayRequest) {
    return forbid(
      'requester',
      'Certificates are requested with a Kerberos ticket here.',
    );
  }
  if (caller.account.dn === subject.dn) {
    return pass('requester', 'You ask for yourself.');
  }
  if (!config.signers.has(caller)) {
    return forbid('requester', 'You may ask for yourself only.');
  }
  return config.protectedGroups.some(group => subject.groups.has(group))
    ? forbid('requester', 'Only this user themself may ask.')
    : pass('requester', 'You may ask for others.');
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
