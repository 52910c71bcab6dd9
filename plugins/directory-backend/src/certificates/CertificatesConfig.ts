import { readDurationFromConfig, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';
import { readPrincipalSet, type PrincipalSet } from '../directory/PrincipalSet';
import {
  readCertificateProfiles,
  type CertificateProfile,
} from './CertificateProfile';
import { readRemindersConfig, type RemindersConfig } from './RemindersConfig';

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
  const requests = config.getOptionalNumber('limit.requests') ?? 60;
  if (!Number.isSafeInteger(requests) || requests < 1) {
    throw new InputError(
      'directory.certificates.limit.requests must be a whole number above 0',
    );
  }
  const perMs = config.has('limit.per')
    ? durationToMilliseconds(
        readDurationFromConfig(config, { key: 'limit.per' }),
      )
    : 60_000;
  return { requests, perMs };
}
