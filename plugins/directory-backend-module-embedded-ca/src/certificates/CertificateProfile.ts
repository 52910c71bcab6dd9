import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';
import type { KeyPurpose, KeyUsage } from '@directory-gateway/x509';

const KEY = 'directory.certificates.embedded.profiles';

/** What certificates of one kind say. */
export interface CertificateProfile {
  readonly name: string;
  readonly validityMs: number;
  readonly keyUsage: readonly KeyUsage[];
  /** Names of purposes, or OIDs. */
  readonly extendedKeyUsage: readonly string[];
  /** The `O` of the subject. */
  readonly organization: string;
}

/** Usages of a person's key: not those of a CA, nor refinements of one usage. */
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
 * Purposes of a CA, a KDC or another service that everyone trusts: with such a
 * certificate a user could speak for that service.
 */
const RESERVED_PURPOSES: readonly string[] = [
  // Answers for the revocation of every certificate (RFC 6960 §4.2.2.2).
  ...['OCSPSigning', '1.3.6.1.5.5.7.3.9'],
  // Includes the others (RFC 5280 §4.2.1.12).
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

/** Clients make do with a certificate of a month; it is renewed with a ticket. */
const DEFAULT_VALIDITY = { days: 30 };

/**
 * Reads the profiles; without any there is `userCerts` with every default.
 *
 * @param defaults - what a profile has that does not say otherwise
 * @throws InputError that names the key that is wrong or missing.
 */
export function readCertificateProfiles(
  config: Config,
  defaults: { readonly organization: string },
): ReadonlyMap<string, CertificateProfile> {
  const profiles = config
    .getOptionalConfigArray('profiles')
    ?.map(profile => readProfile(profile, defaults)) ?? [
    defaultProfile({ name: 'userCerts', ...defaults }),
  ];
  const byName = new Map(profiles.map(profile => [profile.name, profile]));
  if (byName.size === 0 || byName.size < profiles.length) {
    throw new InputError(`${KEY} must have profiles, each with its own name`);
  }
  return byName;
}

function defaultProfile(options: {
  readonly name: string;
  readonly organization: string;
}): CertificateProfile {
  return {
    ...options,
    validityMs: durationToMilliseconds(DEFAULT_VALIDITY),
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: ['clientAuth'],
  };
}

function readProfile(
  config: Config,
  defaults: { readonly organization: string },
): CertificateProfile {
  const profile = defaultProfile({
    name: config.getString('name'),
    organization:
      config.getOptionalString('organization') ?? defaults.organization,
  });
  const keyUsage = config.getOptionalStringArray('keyUsage');
  const purposes = config.getOptionalStringArray('extendedKeyUsage');
  return Object.freeze({
    ...profile,
    validityMs: readMilliseconds(config, 'validity', {
      prefix: KEY,
      fallback: DEFAULT_VALIDITY,
    }),
    ...(keyUsage && { keyUsage: checkKeyUsage(keyUsage) }),
    ...(purposes && { extendedKeyUsage: checkPurposes(purposes) }),
  });
}

function checkKeyUsage(usages: readonly string[]): readonly KeyUsage[] {
  if (usages.length === 0 || !usages.every(isKeyUsage)) {
    throw new InputError(
      `${KEY}: keyUsage must be some of ${KEY_USAGES.join(', ')}`,
    );
  }
  return usages;
}

function isKeyUsage(usage: string): usage is KeyUsage {
  return KEY_USAGES.includes(usage);
}

function checkPurposes(purposes: readonly string[]): readonly string[] {
  const reserved = purposes.find(purpose =>
    RESERVED_PURPOSES.includes(purpose),
  );
  if (reserved !== undefined) {
    throw new InputError(
      `${KEY}: extendedKeyUsage must not contain ${reserved}, which is not for users' certificates`,
    );
  }
  const known = (purpose: string) =>
    PURPOSES.includes(purpose) || OID.test(purpose);
  if (purposes.length === 0 || !purposes.every(known)) {
    throw new InputError(
      `${KEY}: extendedKeyUsage must be OIDs or some of ${PURPOSES.join(', ')}`,
    );
  }
  return purposes;
}
