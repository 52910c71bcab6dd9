import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import type { Principal } from '../directory/Principal';

/** A certificate profile that the gateway offers. */
export interface CertificateProfile {
  readonly name: string;
  /** What its certificates are for, for people who choose one. */
  readonly purpose?: string;
  /** Groups, in lower case, whose members may have it; by default everyone. */
  readonly allowedGroups?: readonly string[];
}

/** Whether somebody's groups let them have a certificate of this profile. */
export function isOpenTo(
  { allowedGroups }: CertificateProfile,
  { groups }: Pick<Principal, 'groups'>,
): boolean {
  return !allowedGroups || allowedGroups.some(group => groups.has(group));
}

/**
 * Reads `directory.certificates.profiles`, by name; without any there is
 * `userCerts` for everyone.
 *
 * @throws InputError when the list is empty or names a profile twice.
 */
export function readCertificateProfiles(
  certificates: Config,
): ReadonlyMap<string, CertificateProfile> {
  const profiles: readonly CertificateProfile[] = certificates
    .getOptionalConfigArray('profiles')
    ?.map(readProfile) ?? [{ name: 'userCerts' }];
  const byName = new Map(profiles.map(profile => [profile.name, profile]));
  if (byName.size === 0 || byName.size < profiles.length) {
    throw new InputError(
      'directory.certificates.profiles must have profiles, each with its own name',
    );
  }
  return byName;
}

function readProfile(config: Config): CertificateProfile {
  return {
    name: config.getString('name'),
    purpose: config.getOptionalString('purpose'),
    allowedGroups: config
      .getOptionalStringArray('allowedGroups')
      ?.map(group => group.toLowerCase()),
  };
}
