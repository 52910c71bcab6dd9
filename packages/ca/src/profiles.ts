import {
  type Config,
  ConfigReader,
  readDurationFromConfig,
} from '@backstage/config';
import { InputError, assertError } from '@backstage/errors';
import { type HumanDuration, durationToMilliseconds } from '@backstage/types';
import type { KeyPurpose, KeyUsage } from '@directory-gateway/x509';

/**
 * Properties that all certificates of a profile have.
 *
 * @public
 */
export interface CertificateProfile {
  /** Name of the profile. */
  readonly name: string;
  /** Maximum validity in milliseconds. */
  readonly validityMs: number;
  /** Usages of the key. */
  readonly keyUsage: readonly KeyUsage[];
  /** Names of key purposes, or OIDs. */
  readonly extendedKeyUsage: readonly string[];
  /** The `O` of the subject. */
  readonly organization: string;
  /** OIDs of certificate policies; empty: no policies extension. */
  readonly policies: readonly string[];
}

/** Key usages of users' certificates: not those of a CA. */
const KEY_USAGES: readonly string[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
] satisfies KeyUsage[];

const PURPOSES: readonly string[] = [
  'serverAuth',
  'clientAuth',
  'codeSigning',
  'emailProtection',
  'pkinitClientAuth',
  'smartcardLogon',
] satisfies KeyPurpose[];

/**
 * Purposes of a CA, a KDC or another trusted service, which a user could
 * impersonate with such a certificate.
 */
const RESERVED_PURPOSES: readonly string[] = [
  // Signs the revocation status of every certificate (RFC 6960 §4.2.2.2).
  ...['OCSPSigning', '1.3.6.1.5.5.7.3.9'],
  // Includes all others (RFC 5280 §4.2.1.12).
  ...['anyExtendedKeyUsage', '2.5.29.37.0'],
  // RFC 3161 §2.3.
  ...['timeStamping', '1.3.6.1.5.5.7.3.8'],
  // Kerberos KDC (RFC 4556 §3.2.4).
  '1.3.6.1.5.2.3.5',
  // CMC CA and registration authority (RFC 6402 §2.10).
  ...['1.3.6.1.5.5.7.3.27', '1.3.6.1.5.5.7.3.28'],
  // Precertificate signing (RFC 6962 §3.1).
  '1.3.6.1.4.1.11129.2.4.4',
  // Microsoft's enrollment agent: requests certificates for other users.
  '1.3.6.1.4.1.311.20.2.1',
];

const OID = /^[0-2](?:\.(?:0|[1-9]\d{0,19}))+$/;

/** Short, because clients can renew a certificate with a Kerberos ticket. */
const DEFAULT_VALIDITY = { days: 30 };

/**
 * Options of {@link readCertificateProfiles}.
 *
 * @public
 */
export interface ProfilesOptions {
  /** The `O` of profiles that do not set it. */
  readonly organization: string;
  /** Path of `profiles` for error messages: `directory.certificates.embedded.profiles`. */
  readonly key: string;
}

/**
 * Reads `profiles`. Default: `userCerts` with the default of every key.
 *
 * @param config - contains `profiles`
 * @throws InputError that names the invalid key.
 *
 * @public
 */
export function readCertificateProfiles(
  config: Config,
  options: ProfilesOptions,
): ReadonlyMap<string, CertificateProfile> {
  const blocks = config.getOptionalConfigArray('profiles') ?? [
    new ConfigReader({ name: 'userCerts' }),
  ];
  const profiles = blocks.map(block => readProfile(block, options));
  const byName = new Map(profiles.map(profile => [profile.name, profile]));
  if (byName.size === 0 || byName.size < profiles.length) {
    throw new InputError(
      `${options.key} must contain profiles with unique names`,
    );
  }
  return byName;
}

function readProfile(
  config: Config,
  { organization, key }: ProfilesOptions,
): CertificateProfile {
  return Object.freeze({
    name: config.getString('name'),
    organization: config.getOptionalString('organization') ?? organization,
    validityMs: readMilliseconds(config, 'validity', {
      prefix: key,
      fallback: DEFAULT_VALIDITY,
    }),
    keyUsage: checkKeyUsage(
      config.getOptionalStringArray('keyUsage') ?? ['digitalSignature'],
      key,
    ),
    extendedKeyUsage: checkPurposes(
      config.getOptionalStringArray('extendedKeyUsage') ?? ['clientAuth'],
      key,
    ),
    policies: checkPolicies(
      config.getOptionalStringArray('policies') ?? [],
      key,
    ),
  });
}

function checkKeyUsage(
  usages: readonly string[],
  key: string,
): readonly KeyUsage[] {
  if (usages.length === 0 || !usages.every(isKeyUsage)) {
    throw new InputError(
      `${key}: keyUsage must be a list of ${KEY_USAGES.join(', ')}`,
    );
  }
  return usages;
}

function isKeyUsage(usage: string): usage is KeyUsage {
  return KEY_USAGES.includes(usage);
}

function checkPurposes(
  purposes: readonly string[],
  key: string,
): readonly string[] {
  const reserved = purposes.find(purpose =>
    RESERVED_PURPOSES.includes(purpose),
  );
  if (reserved !== undefined) {
    throw new InputError(
      `${key}: extendedKeyUsage must not contain ${reserved}, which is not allowed in user certificates`,
    );
  }
  const isKnown = (purpose: string) =>
    PURPOSES.includes(purpose) || OID.test(purpose);
  if (purposes.length === 0 || !purposes.every(isKnown)) {
    throw new InputError(
      `${key}: extendedKeyUsage must be a list of OIDs or ${PURPOSES.join(
        ', ',
      )}`,
    );
  }
  return purposes;
}

function checkPolicies(
  policies: readonly string[],
  key: string,
): readonly string[] {
  if (!policies.every(policy => OID.test(policy))) {
    throw new InputError(`${key}: policies must be a list of OIDs`);
  }
  return policies;
}

/**
 * Reads a duration, in milliseconds, greater than 0.
 *
 * @param options - `prefix`: path of `config`, for error messages; `fallback`:
 *   the duration when the key is not set
 * @throws InputError that names the key.
 */
export function readMilliseconds(
  config: Config | undefined,
  key: string,
  options: { readonly prefix: string; readonly fallback: HumanDuration },
): number {
  try {
    const milliseconds = durationToMilliseconds(
      config?.has(key)
        ? readDurationFromConfig(config, { key })
        : options.fallback,
    );
    if (!(milliseconds > 0)) {
      throw new InputError('must be greater than 0');
    }
    return milliseconds;
  } catch (error) {
    assertError(error);
    throw new InputError(`${options.prefix}.${key}: ${error.message}`);
  }
}
