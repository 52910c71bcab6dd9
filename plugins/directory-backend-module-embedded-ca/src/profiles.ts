import { type Config, ConfigReader } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  type AuthorityProfile,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import { KEY_PURPOSES, type KeyUsage } from '@directory-gateway/x509';

/** Properties of all certificates of a profile. */
export interface CertificateProfile extends AuthorityProfile {
  readonly keyUsage: readonly KeyUsage[];
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

/**
 * Purposes of a CA, a KDC or another trusted service, which a user could
 * impersonate with such a certificate: besides the named ones, those of a KDC
 * (RFC 4556 §3.2.4), a CMC CA and registration authority (RFC 6402 §2.10),
 * precertificates (RFC 6962 §3.1) and Microsoft's enrollment agent.
 */
const RESERVED_PURPOSES: ReadonlySet<string> = new Set([
  KEY_PURPOSES.OCSPSigning,
  KEY_PURPOSES.anyExtendedKeyUsage,
  KEY_PURPOSES.timeStamping,
  '1.3.6.1.5.2.3.5',
  '1.3.6.1.5.5.7.3.27',
  '1.3.6.1.5.5.7.3.28',
  '1.3.6.1.4.1.11129.2.4.4',
  '1.3.6.1.4.1.311.20.2.1',
]);

const PURPOSES: Readonly<Record<string, string>> = KEY_PURPOSES;

const OID = /^[0-2](?:\.(?:0|[1-9]\d{0,14}))+$/;

/**
 * Reads `profiles`. Default: `userCerts` with the default of every key.
 *
 * @param config - contains `profiles`
 * @param options - `organization`: the `O` of profiles that do not set it;
 *   `prefix`: path of `config`, for error messages
 * @throws InputError that names the invalid key.
 */
export function readProfiles(
  config: Config,
  options: { readonly organization: string; readonly prefix: string },
): ReadonlyMap<string, CertificateProfile> {
  const blocks = config.getOptionalConfigArray('profiles') ?? [
    new ConfigReader({ name: 'userCerts' }),
  ];
  const key = `${options.prefix}.profiles`;
  const profiles = new Map(
    blocks.map(block => [
      block.getString('name'),
      readProfile(block, { organization: options.organization, key }),
    ]),
  );
  if (profiles.size === 0 || profiles.size < blocks.length) {
    throw new InputError(`${key} must contain profiles with unique names`);
  }
  return profiles;
}

function readProfile(
  config: Config,
  {
    organization,
    key,
  }: { readonly organization: string; readonly key: string },
): CertificateProfile {
  const keyUsage = config.getOptionalStringArray('keyUsage') ?? [
    'digitalSignature',
  ];
  const extendedKeyUsage = config.getOptionalStringArray(
    'extendedKeyUsage',
  ) ?? ['clientAuth'];
  const policies = config.getOptionalStringArray('policies') ?? [];
  if (keyUsage.length === 0 || !keyUsage.every(isKeyUsage)) {
    throw new InputError(
      `${key}: keyUsage must be a list of ${KEY_USAGES.join(', ')}`,
    );
  }
  const reserved = extendedKeyUsage.find(purpose =>
    RESERVED_PURPOSES.has(PURPOSES[purpose] ?? purpose),
  );
  if (reserved !== undefined) {
    throw new InputError(
      `${key}: extendedKeyUsage must not contain ${reserved}, which is not allowed in user certificates`,
    );
  }
  const isKnown = (purpose: string) =>
    Object.hasOwn(PURPOSES, purpose) || OID.test(purpose);
  if (extendedKeyUsage.length === 0 || !extendedKeyUsage.every(isKnown)) {
    throw new InputError(
      `${key}: extendedKeyUsage must be a list of OIDs or names such as clientAuth`,
    );
  }
  if (!policies.every(policy => OID.test(policy))) {
    throw new InputError(`${key}: policies must be a list of OIDs`);
  }
  return Object.freeze({
    organization: config.getOptionalString('organization') ?? organization,
    validityMs: readMilliseconds(config, 'validity', {
      prefix: key,
      fallback: { days: 30 },
    }),
    keyUsage,
    extendedKeyUsage,
    policies,
  });
}

function isKeyUsage(usage: string): usage is KeyUsage {
  return KEY_USAGES.includes(usage);
}
