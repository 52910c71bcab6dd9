import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readCount } from '@directory-gateway/backstage-plugin-directory-node';
import {
  type Principal,
  type PrincipalSet,
  readPrincipalSet,
} from '@directory-gateway/directory-core';

const KEY = 'directory.certificates';

/** Certificates that a caller may read by serial number. */
export type ReadableCertificates = 'own' | 'users' | 'all';

/** Typed form of `directory.certificates`. */
export interface CertificatesConfig {
  /** Name of the issuing CA. */
  readonly authority: string;
  /** Names of the CAs to read, in order; the issuing CA comes first. */
  readonly read: readonly string[];
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** The first one of `profiles`. */
  readonly defaultProfile: string;
  /** Callers who may request certificates for other users. */
  readonly signers: PrincipalSet;
  /**
   * Groups, in lower case, whose members' certificates only the members
   * themselves may request.
   */
  readonly protectedGroups: readonly string[];
  readonly readable: ReadableCertificates;
  /** Maximum number of signing requests per caller in a minute. */
  readonly limit: { readonly requests: number };
  /** Maximum number of a user's unexpired certificates. */
  readonly maxPerUser: number;
  /**
   * Whether portal users who are mapped to directory users may request
   * certificates.
   */
  readonly portalUsersMayRequest: boolean;
  /** Whether requests, renewals and revocations require a portal token. */
  readonly requirePortalToken: boolean;
  readonly reminders: {
    /** Days before expiry on which a reminder is sent, in ascending order. */
    readonly daysBefore: readonly number[];
  };
  readonly accountHolds: {
    /** Whether certificates are put on hold. Holds are always released. */
    readonly enabled: boolean;
  };
}

/** A certificate profile that the gateway offers. */
export interface CertificateProfile {
  readonly name: string;
  /** Purpose, shown to users who select a profile. */
  readonly purpose?: string;
  /**
   * Groups, in lower case, whose members may use the profile. Default: all
   * users.
   */
  readonly allowedGroups?: readonly string[];
}

/**
 * Reads `directory.certificates`.
 *
 * @returns `undefined` when the block is missing
 * @throws InputError that names the invalid key.
 */
export function readCertificatesConfig(
  directory: Config,
): CertificatesConfig | undefined {
  const config = directory.getOptionalConfig('certificates');
  if (!config) {
    return undefined;
  }
  const authority = config.getString('authority');
  const profiles = readProfiles(config);
  const [defaultProfile] = profiles.keys();
  const others = config.getOptionalStringArray('read') ?? [];
  const portalUsersMayRequest =
    directory.getOptionalBoolean('portalUsers.mayRequestCertificates') ?? false;
  const requirePortalToken =
    config.getOptionalBoolean('requirePortalToken') ?? false;
  if (requirePortalToken && !portalUsersMayRequest) {
    throw new InputError(
      `${KEY}.requirePortalToken requires directory.portalUsers.mayRequestCertificates: otherwise no caller could request a certificate`,
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
    limit: {
      requests: readCount(config, 'limit.requests', {
        prefix: KEY,
        fallback: 60,
      }),
    },
    maxPerUser: readCount(config, 'maxPerUser', {
      prefix: KEY,
      fallback: 100,
    }),
    portalUsersMayRequest,
    requirePortalToken,
    reminders: readReminders(config),
    accountHolds: Object.freeze({
      enabled: config.getOptionalBoolean('accountHolds.enabled') ?? false,
    }),
  });
}

/** Returns whether a user with these groups may use a profile. */
export function isOpenTo(
  { allowedGroups }: CertificateProfile,
  { groups }: Pick<Principal, 'groups'>,
): boolean {
  return !allowedGroups || allowedGroups.some(group => groups.has(group));
}

/** Reads the profiles. Default: `userCerts` for all users. */
function readProfiles(config: Config): ReadonlyMap<string, CertificateProfile> {
  const profiles: readonly CertificateProfile[] = config
    .getOptionalConfigArray('profiles')
    ?.map(profile => ({
      name: profile.getString('name'),
      purpose: profile.getOptionalString('purpose'),
      allowedGroups: profile
        .getOptionalStringArray('allowedGroups')
        ?.map(group => group.toLowerCase()),
    })) ?? [{ name: 'userCerts' }];
  const byName = new Map(profiles.map(profile => [profile.name, profile]));
  if (byName.size === 0 || byName.size < profiles.length) {
    throw new InputError(
      `${KEY}.profiles must contain profiles with unique names`,
    );
  }
  return byName;
}

function readReadable(config: Config): ReadableCertificates {
  const readable = config.getOptionalString('readable') ?? 'all';
  if (readable !== 'own' && readable !== 'users' && readable !== 'all') {
    throw new InputError(
      `${KEY}.readable must be "own", "users" or "all", not "${readable}"`,
    );
  }
  return readable;
}

function readReminders(certificates: Config): CertificatesConfig['reminders'] {
  const config = certificates.getOptionalConfig('reminders');
  const daysBefore = config?.getOptional('daysBefore') ?? [30, 14, 7, 1];
  if (!Array.isArray(daysBefore) || !daysBefore.every(isNumberOfDays)) {
    throw new InputError(
      `${KEY}.reminders.daysBefore must be a list of whole numbers above 0`,
    );
  }
  return Object.freeze({
    daysBefore: [...new Set(daysBefore)].sort((a, b) => a - b),
  });
}

function isNumberOfDays(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
