import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readAbsolutePath,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { AuthorityOrigin } from './authority/CurrentAuthority';
import {
  readCertificateProfiles,
  type CertificateProfile,
} from './certificates/CertificateProfile';

const PREFIX = 'directory.certificates.embedded';

/** A CRL must not expire between two runs of the maintenance task. */
const MIN_LIST_VALIDITY_MS = 60 * 60 * 1000;

/** `directory.certificates.embedded`. */
export interface EmbeddedCaConfig {
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** The `O` of subjects. */
  readonly organization: string;
  /** Absolute path of the private key. */
  readonly keyFile: string;
  /** Absolute path of the file with the passphrase of the key. */
  readonly passphraseFile?: string;
  readonly origin: AuthorityOrigin;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Validity of a CRL in milliseconds. */
  readonly listValidityMs: number;
}

/**
 * Reads `directory.certificates.embedded`, described in `config.d.ts`.
 *
 * @returns `undefined` when the block is missing
 * @throws InputError that names the invalid key.
 */
export function readEmbeddedCaConfig(
  root: Config,
): EmbeddedCaConfig | undefined {
  const config = root.getOptionalConfig(PREFIX);
  if (!config) {
    return undefined;
  }
  const organization = config.getString('organization');
  const passphraseFile = readAbsolutePath(config, 'passphraseFile', PREFIX);
  const listValidityMs = readMilliseconds(config, 'crl.validity', {
    prefix: PREFIX,
    fallback: { days: 7 },
  });
  if (listValidityMs < MIN_LIST_VALIDITY_MS) {
    throw new InputError(`${PREFIX}.crl.validity must be at least one hour`);
  }
  return Object.freeze({
    cacn: config.getOptionalString('cacn') ?? 'embedded',
    organization,
    keyFile:
      readAbsolutePath(config, 'keyFile', PREFIX) ??
      config.getString('keyFile'),
    ...(passphraseFile !== undefined && { passphraseFile }),
    origin: readOrigin(config),
    profiles: readCertificateProfiles(config, { organization }),
    listValidityMs,
  });
}

function readOrigin(config: Config): AuthorityOrigin {
  const chainFile = readAbsolutePath(config, 'chainFile', PREFIX);
  if (chainFile === undefined) {
    return {
      kind: 'generated',
      commonName:
        config.getOptionalString('root.commonName') ?? 'Certificate Authority',
      validityMs: readMilliseconds(config, 'root.validity', {
        prefix: PREFIX,
        fallback: { years: 10 },
      }),
    };
  }
  if (config.has('root')) {
    throw new InputError(`${PREFIX}.root must not be set with chainFile`);
  }
  return { kind: 'provided', chainFile };
}
