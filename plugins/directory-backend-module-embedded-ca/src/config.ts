import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readAbsolutePath,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type CertificateProfile, readProfiles } from './profiles';

const PREFIX = 'directory.certificates.embedded';

/**
 * Minimum validity, so that a CRL does not expire between two runs of the
 * maintenance task.
 */
const MIN_CRL_VALIDITY_MS = 60 * 60 * 1000;

/**
 * Maximum validity: a client that has a CRL may not see later revocations until
 * that CRL expires.
 */
const MAX_CRL_VALIDITY_MS = 31 * 24 * 60 * 60 * 1000;

/** Files of a CA whose certificate and CRL are published. All are absolute. */
export interface IssuerFiles {
  /** PEM: the CA's certificate and its issuers. */
  readonly chainFile: string;
  /** Private key, PEM. Without it, the CA signs nothing. */
  readonly keyFile?: string;
  /** Passphrase of the key. Default: the key is not encrypted. */
  readonly passphraseFile?: string;
  /** CRL of a CA without a key, PEM or DER. */
  readonly crlFile?: string;
}

/** `directory.certificates.embedded`. */
export interface EmbeddedCaConfig {
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** The first one signs certificates; each one with a key signs its own CRL. */
  readonly issuers: readonly IssuerFiles[];
  readonly roots: readonly IssuerFiles[];
  /**
   * URL below which certificates and CRLs of CAs are published. Default: the
   * plugin's external URL.
   */
  readonly publicUrl?: string;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Validity of a CRL in milliseconds. */
  readonly crlValidityMs: number;
  /** Keys of 0.2 that have no effect. */
  readonly ignored: readonly string[];
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
  if (config.has('socket')) {
    // Without this error, the portal could sign with another key than before.
    throw new InputError(
      `${PREFIX}.socket: the signing process directory-ca was removed in 0.3; docs/certificate-authority.md, "Upgrade from 0.2", describes what to do with its issuers`,
    );
  }
  const organization = config.getString('organization');
  const issuers = config
    .getConfigArray('issuers')
    .map((block, index) => readIssuer(block, `${PREFIX}.issuers[${index}]`));
  if (issuers[0]?.keyFile === undefined) {
    throw new InputError(`${PREFIX}.issuers must start with a CA with a key`);
  }
  const publicUrl = config.getOptionalString('publicUrl');
  if (
    publicUrl !== undefined &&
    !/^https?:\/\/[^/]+(\/[^/]+)*$/.test(publicUrl)
  ) {
    throw new InputError(
      `${PREFIX}.publicUrl must be an http:// or https:// URL without a trailing slash`,
    );
  }
  return Object.freeze({
    cacn: config.getOptionalString('cacn') ?? 'embedded',
    issuers,
    roots: (config.getOptionalConfigArray('roots') ?? []).map((block, index) =>
      readRoot(block, `${PREFIX}.roots[${index}]`),
    ),
    publicUrl,
    profiles: readProfiles(config, { organization, prefix: PREFIX }),
    crlValidityMs: readCrlValidity(config),
    ignored: ['logFolder', 'limit']
      .filter(key => config.has(key))
      .map(key => `${PREFIX}.${key}`),
  });
}

function readCrlValidity(config: Config): number {
  const validityMs = readMilliseconds(config, 'crl.validity', {
    prefix: PREFIX,
    fallback: { days: 7 },
  });
  if (validityMs < MIN_CRL_VALIDITY_MS || validityMs > MAX_CRL_VALIDITY_MS) {
    throw new InputError(
      `${PREFIX}.crl.validity must be at least 1 hour and at most 31 days`,
    );
  }
  return validityMs;
}

function readIssuer(config: Config, prefix: string): IssuerFiles {
  const files = {
    chainFile: requirePath(config, 'chainFile', prefix),
    keyFile: readAbsolutePath(config, 'keyFile', prefix),
    passphraseFile: readAbsolutePath(config, 'passphraseFile', prefix),
    crlFile: readAbsolutePath(config, 'crlFile', prefix),
  };
  if ((files.keyFile === undefined) === (files.crlFile === undefined)) {
    throw new InputError(`${prefix} must have either keyFile or crlFile`);
  }
  return files;
}

function readRoot(config: Config, prefix: string): IssuerFiles {
  return {
    chainFile: requirePath(config, 'certificateFile', prefix),
    crlFile: readAbsolutePath(config, 'crlFile', prefix),
  };
}

function requirePath(config: Config, key: string, prefix: string): string {
  return readAbsolutePath(config, key, prefix) ?? config.getString(key);
}
