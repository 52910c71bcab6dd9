import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readAbsolutePath,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type CertificateProfile, readProfiles } from './profiles';

/** Key of the module's block of the configuration. */
export const BLOCK = 'directory.certificates.embedded';

const HOUR_MS = 60 * 60 * 1000;

/** Files of a CA whose certificate and CRL are published. All are absolute. */
export interface IssuerFiles {
  /** PEM: the CA's certificate and its issuers. */
  readonly chainFile: string;
  /** Private key, PEM. Without it, the CA signs nothing. */
  readonly keyFile?: string;
  /** Default: the key is not encrypted. */
  readonly passphraseFile?: string;
  /** CRL of a CA without a key, PEM or DER. */
  readonly crlFile?: string;
}

/** `directory.certificates.embedded`. */
export interface EmbeddedCaConfig {
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** The `O` of subjects. */
  readonly organization: string;
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
  const config = root.getOptionalConfig(BLOCK);
  if (!config) {
    return undefined;
  }
  if (config.has('socket')) {
    // Without this error, the portal could sign with another key than before.
    throw new InputError(
      `${BLOCK}.socket: the signing process directory-ca was removed in 0.3; docs/certificate-authority.md, "Upgrade from 0.2", describes what to do with its issuers`,
    );
  }
  const issuers = config.getConfigArray('issuers').map((block, index) => {
    const prefix = `${BLOCK}.issuers[${index}]`;
    const files = readFiles(block, prefix);
    if ((files.keyFile === undefined) === (files.crlFile === undefined)) {
      throw new InputError(`${prefix} must have either keyFile or crlFile`);
    }
    return files;
  });
  if (issuers[0]?.keyFile === undefined) {
    throw new InputError(`${BLOCK}.issuers must start with a CA with a key`);
  }
  const publicUrl = config.getOptionalString('publicUrl');
  if (
    publicUrl !== undefined &&
    !/^https?:\/\/[^/]+(\/[^/]+)*$/.test(publicUrl)
  ) {
    throw new InputError(
      `${BLOCK}.publicUrl must be an http:// or https:// URL without a trailing slash`,
    );
  }
  const crlValidityMs = readMilliseconds(config, 'crl.validity', {
    prefix: BLOCK,
    fallback: { days: 7 },
  });
  if (crlValidityMs < HOUR_MS || crlValidityMs > 31 * 24 * HOUR_MS) {
    throw new InputError(
      `${BLOCK}.crl.validity must be at least 1 hour and at most 31 days`,
    );
  }
  return Object.freeze({
    cacn: config.getOptionalString('cacn') ?? 'embedded',
    organization: config.getString('organization'),
    issuers,
    roots: (config.getOptionalConfigArray('roots') ?? []).map((block, index) =>
      readFiles(block, `${BLOCK}.roots[${index}]`, 'certificateFile'),
    ),
    publicUrl,
    profiles: readProfiles(config, BLOCK),
    crlValidityMs,
  });
}

function readFiles(
  config: Config,
  prefix: string,
  chainKey = 'chainFile',
): IssuerFiles {
  const read = (key: string) => readAbsolutePath(config, key, prefix);
  return {
    chainFile: read(chainKey) ?? config.getString(chainKey),
    keyFile: read('keyFile'),
    passphraseFile: read('passphraseFile'),
    crlFile: read('crlFile'),
  };
}
