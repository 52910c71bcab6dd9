import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds } from '@backstage/types';
import type { KeyPurpose, KeyUsage } from '@directory-gateway/x509';
import { readMilliseconds } from '../readMilliseconds';

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

const PURPOSES: Readonly<Record<KeyPurpose, true>> = {
  serverAuth: true,
  clientAuth: true,
  codeSigning: true,
  emailProtection: true,
  timeStamping: true,
  OCSPSigning: true,
  anyExtendedKeyUsage: true,
  pkinitClientAuth: true,
  smartcardLogon: true,
};

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
  const unknown = purposes.find(
    purpose => !Object.hasOwn(PURPOSES, purpose) && !OID.test(purpose),
  );
  if (purposes.length === 0 || unknown !== undefined) {
    throw new InputError(
      `${KEY}: extendedKeyUsage must be OIDs or some of ${Object.keys(
        PURPOSES,
      ).join(', ')}`,
    );
  }
  return purposes;
}
