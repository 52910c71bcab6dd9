import { type Config, ConfigReader } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  type AuthorityProfile,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  isReservedPurpose,
  type KeyUsage,
  purposeOid,
} from '@directory-gateway/x509';

/** Properties of all certificates of a profile. */
export interface CertificateProfile extends AuthorityProfile {
  readonly keyUsage: readonly KeyUsage[];
}

/** Key usages of users' certificates: not those of a CA. */
const KEY_USAGES: readonly string[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
] satisfies KeyUsage[];

const REQUIREMENTS = {
  keyUsage: `must be a list of ${KEY_USAGES.join(', ')}`,
  extendedKeyUsage:
    'must be a list of OIDs or names such as clientAuth, except those reserved for CAs and KDCs',
};

/** Keys of profiles of 0.2. */
const REMOVED_KEYS: readonly string[] = ['organization', 'policies'];

const OID = /^[0-2](?:\.(?:0|[1-9]\d{0,14}))+$/;

/**
 * Reads `profiles`. Default: `userCerts` with the default of every key.
 *
 * @param config - contains `profiles`
 * @param prefix - path of `config`, for error messages
 * @throws InputError that names the invalid key.
 */
export function readProfiles(
  config: Config,
  prefix: string,
): ReadonlyMap<string, CertificateProfile> {
  const key = `${prefix}.profiles`;
  const blocks = config.getOptionalConfigArray('profiles') ?? [
    new ConfigReader({ name: 'userCerts' }),
  ];
  const profiles = new Map(
    blocks.map(block => [block.getString('name'), readProfile(block, key)]),
  );
  if (profiles.size === 0 || profiles.size < blocks.length) {
    throw new InputError(`${key} must contain profiles with unique names`);
  }
  return profiles;
}

function readProfile(config: Config, key: string): CertificateProfile {
  const removed = REMOVED_KEYS.find(name => config.has(name));
  if (removed) {
    // Without this error, the CA would issue other certificates than before.
    throw new InputError(`${key}: ${removed} is no longer supported`);
  }
  function readList<T extends string>(
    name: keyof typeof REQUIREMENTS,
    fallback: readonly T[],
    isValid: (value: string) => boolean,
  ): readonly T[] {
    const values = config.getOptionalStringArray(name) ?? fallback;
    const isMissing = values.length === 0 && fallback.length > 0;
    if (isMissing || !values.every(isValid)) {
      throw new InputError(`${key}: ${name} ${REQUIREMENTS[name]}`);
    }
    return values as readonly T[];
  }
  return Object.freeze({
    validityMs: readMilliseconds(config, 'validity', {
      prefix: key,
      fallback: { days: 30 },
    }),
    keyUsage: readList<KeyUsage>('keyUsage', ['digitalSignature'], usage =>
      KEY_USAGES.includes(usage),
    ),
    extendedKeyUsage: readList(
      'extendedKeyUsage',
      ['clientAuth'],
      purpose => OID.test(purposeOid(purpose)) && !isReservedPurpose(purpose),
    ),
  });
}
