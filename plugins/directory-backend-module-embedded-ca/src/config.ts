import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  readAbsolutePath,
  readCount,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateProfile,
  MAX_CRL_VALIDITY_MS,
  readCertificateProfiles,
} from '@directory-gateway/ca';

const PREFIX = 'directory.certificates.embedded';

/**
 * Minimum validity, so that a CRL does not expire between two runs of the
 * maintenance task.
 */
const MIN_LIST_VALIDITY_MS = 60 * 60 * 1000;

/**
 * Maximum validity. A CRL becomes valid some minutes in the past, which the
 * signer includes.
 */
const MAX_LIST_VALIDITY_MS = MAX_CRL_VALIDITY_MS - 10 * 60 * 1000;

/** An issuer whose key is in a file. */
export interface IssuerFiles {
  /** Absolute path of the issuer's certificate and its issuers, PEM. */
  readonly chainFile: string;
  /** Absolute path of the private key, PEM. */
  readonly keyFile: string;
  /** Absolute path of the file with the passphrase of the key. */
  readonly passphraseFile?: string;
}

/** Location of the signer. */
export type SignerConfig =
  | {
      readonly kind: 'file';
      /** The first one signs certificates; each one signs its own CRL. */
      readonly issuers: readonly IssuerFiles[];
      /** Absolute path of the folder of the issuance log. */
      readonly logFolder: string;
      /**
       * URL below which certificates and CRLs of issuers are published.
       * Default: the plugin's external URL.
       */
      readonly publicUrl?: string;
      /** Maximum number of certificates in a period. */
      readonly limit: { readonly certificates: number; readonly perMs: number };
    }
  | {
      readonly kind: 'socket';
      /** Absolute path of the socket of `directory-ca`. */
      readonly path: string;
    };

/** A root whose certificate, and CRL if it has one, are published. */
export interface RootFiles {
  /** Absolute path, PEM or DER. */
  readonly certificateFile: string;
  /** Absolute path, PEM or DER. */
  readonly crlFile?: string;
}

/** `directory.certificates.embedded`. */
export interface EmbeddedCaConfig {
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** Organization (`O`) of subjects. */
  readonly organization: string;
  readonly signer: SignerConfig;
  readonly roots: readonly RootFiles[];
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
  const listValidityMs = readMilliseconds(config, 'crl.validity', {
    prefix: PREFIX,
    fallback: { days: 7 },
  });
  if (listValidityMs < MIN_LIST_VALIDITY_MS) {
    throw new InputError(`${PREFIX}.crl.validity must be at least one hour`);
  }
  if (listValidityMs > MAX_LIST_VALIDITY_MS) {
    throw new InputError(
      `${PREFIX}.crl.validity must be at most 31 days minus 10 minutes`,
    );
  }
  return Object.freeze({
    cacn: config.getOptionalString('cacn') ?? 'embedded',
    organization,
    signer: readSigner(config),
    roots: (config.getOptionalConfigArray('roots') ?? []).map((block, index) =>
      readRoot(block, `${PREFIX}.roots[${index}]`),
    ),
    profiles: readCertificateProfiles(config, {
      organization,
      key: `${PREFIX}.profiles`,
    }),
    listValidityMs,
  });
}

function readSigner(config: Config): SignerConfig {
  const path = readAbsolutePath(config, 'socket', PREFIX);
  if (path === undefined) {
    const issuers = config
      .getConfigArray('issuers')
      .map((block, index) => readIssuer(block, `${PREFIX}.issuers[${index}]`));
    if (issuers.length === 0) {
      throw new InputError(`${PREFIX}.issuers must not be empty`);
    }
    const publicUrl = readPublicUrl(config);
    return {
      kind: 'file',
      issuers,
      ...(publicUrl !== undefined && { publicUrl }),
      logFolder: requirePath(config, 'logFolder', PREFIX),
      limit: {
        certificates: readCount(config, 'limit.certificates', {
          prefix: PREFIX,
          fallback: 1000,
        }),
        perMs: readMilliseconds(config, 'limit.per', {
          prefix: PREFIX,
          fallback: { minutes: 1 },
        }),
      },
    };
  }
  for (const key of ['issuers', 'logFolder', 'limit', 'publicUrl']) {
    if (config.has(key)) {
      throw new InputError(`${PREFIX}.${key} must not be set with socket`);
    }
  }
  return { kind: 'socket', path };
}

function readPublicUrl(config: Config): string | undefined {
  const url = config.getOptionalString('publicUrl');
  if (url !== undefined && !/^https?:\/\/[^/]+(\/[^/]+)*$/.test(url)) {
    throw new InputError(
      `${PREFIX}.publicUrl must be an http:// or https:// URL without a trailing slash`,
    );
  }
  return url;
}

function readIssuer(config: Config, prefix: string): IssuerFiles {
  const passphraseFile = readAbsolutePath(config, 'passphraseFile', prefix);
  return {
    chainFile: requirePath(config, 'chainFile', prefix),
    keyFile: requirePath(config, 'keyFile', prefix),
    ...(passphraseFile !== undefined && { passphraseFile }),
  };
}

function readRoot(config: Config, prefix: string): RootFiles {
  const crlFile = readAbsolutePath(config, 'crlFile', prefix);
  return {
    certificateFile: requirePath(config, 'certificateFile', prefix),
    ...(crlFile !== undefined && { crlFile }),
  };
}

function requirePath(config: Config, key: string, prefix: string): string {
  return readAbsolutePath(config, key, prefix) ?? config.getString(key);
}
