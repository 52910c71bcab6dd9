import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readCount,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type PrincipalSet, readPrincipalSet } from '../directory/Caller';
import type { Principal } from '../directory/Principal';

/** Whose certificates a caller may read by serial number. */
export type ReadableCertificates = 'own' | 'users' | 'all';

/** `directory.certificates`. */
export interface CertificatesConfig {
  /** The one authority that issues. */
  readonly authority: string;
  /** Authorities that are read, in order: the issuing one first. */
  readonly read: readonly string[];
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  readonly defaultProfile: string;
  /** Who may ask for others. */
  readonly signers: PrincipalSet;
  /** Groups for whose members only they themselves may ask. */
  readonly protectedGroups: readonly string[];
  readonly readable: ReadableCertificates;
  /** How often one caller may ask for a signature. */
  readonly limit: { readonly requests: number; readonly perMs: number };
  /** Whether portal users who are mapped to directory users may ask. */
  readonly portalUsersMayRequest: boolean;
  /** Whether a ticket is not enough to request or revoke certificates. */
  readonly requirePortalToken: boolean;
  /** When users are told that a certificate ends. */
  readonly reminders: RemindersConfig;
}

/**
 * Reads `directory.certificates`, `undefined` when the gateway has nothing to
 * do with certificates.
 *
 * @throws InputError that names the key that is wrong or missing.
 */
export function readCertificatesConfig(
  directory: Config,
): CertificatesConfig | undefined {
  const config = directory.getOptionalConfig('certificates');
  if (!config) {
    return undefined;
  }
  const authority = config.getString('authority');
  const profiles = readCertificateProfiles(config);
  const defaultProfile =
    config.getOptionalString('defaultProfile') ?? [...profiles.keys()][0];
  if (!profiles.has(defaultProfile)) {
    throw new InputError(
      `directory.certificates.defaultProfile: "${defaultProfile}" is not in directory.certificates.profiles`,
    );
  }
  const others = config.getOptionalStringArray('read') ?? [];
  const portalUsersMayRequest =
    directory.getOptionalBoolean('portalUsers.mayRequestCertificates') ?? false;
  const requirePortalToken =
    config.getOptionalBoolean('requirePortalToken') ?? false;
  if (requirePortalToken && !portalUsersMayRequest) {
    throw new InputError(
      'directory.certificates.requirePortalToken needs directory.portalUsers.mayRequestCertificates: nobody could request a certificate otherwise',
    );
  }
  return Object.freeze({
    authority,
    read: [authority, ...others.filter(name => name !== authority)],
    profiles,
    defaultProfile,
    signers: readPrincipalSet(config.getOptionalConfig('signers')),
    protectedGroups: (
      config.getOptionalStringArray('protectedGroups') ?? ['admins']
    ).map(group => group.toLowerCase()),
    readable: readReadable(config),
    limit: readLimit(config),
    portalUsersMayRequest,
    requirePortalToken,
    reminders: readRemindersConfig(config),
  });
}

function readReadable(config: Config): ReadableCertificates {
  const readable = config.getOptionalString('readable') ?? 'all';
  if (readable !== 'own' && readable !== 'users' && readable !== 'all') {
    throw new InputError(
      `directory.certificates.readable must be "own", "users" or "all", not "${readable}"`,
    );
  }
  return readable;
}

function readLimit(config: Config): CertificatesConfig['limit'] {
  return {
    requests: readCount(config, 'limit.requests', {
      prefix: 'directory.certificates',
      fallback: 60,
    }),
    perMs: readMilliseconds(config, 'limit.per', {
      prefix: 'directory.certificates',
      fallback: { minutes: 1 },
    }),
  };
}

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

const KEY = 'directory.certificates.reminders';

/** `directory.certificates.reminders`. */
export interface RemindersConfig {
  /** Days before the end at which a message goes out, the fewest first. */
  readonly daysBefore: readonly number[];
  /** How often ends are looked for. */
  readonly everyMs: number;
}

/**
 * Reads the block, with its defaults where there is none.
 *
 * @throws InputError that names the key that is wrong.
 */
export function readRemindersConfig(certificates: Config): RemindersConfig {
  const config = certificates.getOptionalConfig('reminders');
  const daysBefore = config?.getOptional('daysBefore') ?? [30, 14, 7, 1];
  if (!Array.isArray(daysBefore) || !daysBefore.every(isNumberOfDays)) {
    throw new InputError(
      `${KEY}.daysBefore must be a list of whole numbers above 0`,
    );
  }
  return Object.freeze({
    daysBefore: [...new Set(daysBefore)].sort((a, b) => a - b),
    everyMs: readMilliseconds(config, 'every', {
      prefix: KEY,
      fallback: { hours: 6 },
    }),
  });
}

function isNumberOfDays(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
