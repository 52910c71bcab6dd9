import { isAbsolute } from 'node:path';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readMilliseconds } from '@directory-gateway/backstage-plugin-directory-node';
import {
  readCertificateProfiles,
  type CertificateProfile,
} from './certificates/CertificateProfile';

const PREFIX = 'directory.certificates.embedded';

/** Shorter ones would run out between two runs of the task that renews them. */
const SHORTEST_LIST_MS = 60 * 60 * 1000;

/** `directory.certificates.embedded`. */
export interface EmbeddedCaConfig {
  /** The authority's name in answers. */
  readonly cacn: string;
  /** The `O` of subjects. */
  readonly organization: string;
  /** Absolute path of the private key. */
  readonly keyFile: string;
  /** Absolute path of the file with the passphrase of the key. */
  readonly passphraseFile?: string;
  readonly origin: AuthorityOrigin;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** From one revocation list's beginning to its end. */
  readonly listValidityMs: number;
}

/** Where the authority comes from: made at first start, or there before. */
export type AuthorityOrigin =
  | {
      readonly kind: 'made';
      /** The `CN` of the root. */
      readonly commonName: string;
      readonly validityMs: number;
    }
  | {
      readonly kind: 'given';
      /** Absolute path of its certificate and those above it. */
      readonly chainFile: string;
    };

/**
 * Reads `directory.certificates.embedded`, described in `config.d.ts`;
 * `undefined` when it is not there.
 *
 * @throws InputError that names the key that is wrong or missing.
 */
export function readEmbeddedCaConfig(
  root: Config,
): EmbeddedCaConfig | undefined {
  const config = root.getOptionalConfig(PREFIX);
  if (!config) {
    return undefined;
  }
  const organization = config.getString('organization');
  const passphraseFile = readPath(config, 'passphraseFile');
  const listValidityMs = readMilliseconds(config, 'crl.validity', {
    prefix: PREFIX,
    fallback: { days: 7 },
  });
  if (listValidityMs < SHORTEST_LIST_MS) {
    throw new InputError(`${PREFIX}.crl.validity must be an hour or more`);
  }
  return Object.freeze({
    cacn: config.getOptionalString('cacn') ?? 'embedded',
    organization,
    keyFile: readPath(config, 'keyFile') ?? config.getString('keyFile'),
    ...(passphraseFile !== undefined && { passphraseFile }),
    origin: readOrigin(config),
    profiles: readCertificateProfiles(config, { organization }),
    listValidityMs,
  });
}

function readOrigin(config: Config): AuthorityOrigin {
  const chainFile = readPath(config, 'chainFile');
  if (chainFile === undefined) {
    return {
      kind: 'made',
      commonName:
        config.getOptionalString('root.commonName') ?? 'Certificate Authority',
      validityMs: readMilliseconds(config, 'root.validity', {
        prefix: PREFIX,
        fallback: { years: 10 },
      }),
    };
  }
  if (config.has('root')) {
    throw new InputError(
      `${PREFIX}: with chainFile no root is made, so there must be no "root"`,
    );
  }
  return { kind: 'given', chainFile };
}

function readPath(config: Config, key: string): string | undefined {
  const path = config.getOptionalString(key);
  if (path !== undefined && !isAbsolute(path)) {
    throw new InputError(
      `${PREFIX}.${key} must be an absolute path, not "${path}"`,
    );
  }
  return path;
}
