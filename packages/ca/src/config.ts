import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { type Config, ConfigReader } from '@backstage/config';
import { InputError, assertError } from '@backstage/errors';
import { parse } from 'yaml';
import type { Pkcs11KeyPlace } from './keys/Pkcs11Key';
import {
  type CertificateProfile,
  readCertificateProfiles,
  readMilliseconds,
} from './profiles';

/** A CA in the configuration. */
export interface IssuerConfig {
  /** Absolute path of the CA's certificate and its issuers, PEM. */
  readonly chainFile: string;
  readonly key:
    | {
        readonly kind: 'file';
        /** Absolute path. */
        readonly path: string;
        /** Absolute path. Default: the key is not encrypted. */
        readonly passphraseFile: string | undefined;
      }
    | { readonly kind: 'pkcs11'; readonly place: Pkcs11KeyPlace };
}

/** The configuration of `directory-ca serve`. */
export interface ServeConfig {
  /** The first one signs certificates; each one signs its own CRL. */
  readonly issuers: readonly IssuerConfig[];
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Absolute path. */
  readonly logFolder: string;
  /** Default: that of `LocalSigner`. */
  readonly limit:
    { readonly certificates: number; readonly perMs: number } | undefined;
  /** Absolute path of the Unix socket. */
  readonly socket: string;
  /** Base URL of CRLs and CA certificates, without a trailing `/`. */
  readonly publicUrl: string;
}

/**
 * Reads a configuration file. docs/certificate-authority.md describes the keys.
 *
 * @throws InputError that names the file and the invalid key.
 */
export async function readServeConfig(file: string): Promise<ServeConfig> {
  try {
    const data = parse(await readFile(file, 'utf8'));
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw new InputError('must be a YAML mapping');
    }
    return readRoot(new ConfigReader(data, file));
  } catch (error) {
    assertError(error);
    throw new InputError(`${file}: ${error.message}`);
  }
}

function readRoot(config: Config): ServeConfig {
  requireKnownKeys(config, '', [
    'organization',
    'issuers',
    'profiles',
    'logFolder',
    'limit',
    'socket',
    'publicUrl',
  ]);
  const issuers = config
    .getConfigArray('issuers')
    .map((block, index) => readIssuer(block, `issuers[${index}].`));
  if (issuers.length === 0) {
    throw new InputError('issuers must not be empty');
  }
  for (const [index, block] of (
    config.getOptionalConfigArray('profiles') ?? []
  ).entries()) {
    requireKnownKeys(block, `profiles[${index}].`, [
      'name',
      'organization',
      'validity',
      'keyUsage',
      'extendedKeyUsage',
      'policies',
    ]);
  }
  return {
    issuers,
    profiles: readCertificateProfiles(config, {
      organization: config.getString('organization'),
      key: 'profiles',
    }),
    logFolder: readPath(config, 'logFolder'),
    limit: readLimit(config.getOptionalConfig('limit')),
    socket: readPath(config, 'socket'),
    publicUrl: readUrl(config, 'publicUrl'),
  };
}

function readIssuer(config: Config, prefix: string): IssuerConfig {
  requireKnownKeys(config, prefix, [
    'chainFile',
    'keyFile',
    'passphraseFile',
    'pkcs11',
  ]);
  const chainFile = readPath(config, 'chainFile', prefix);
  const token = config.getOptionalConfig('pkcs11');
  if (!token) {
    const passphraseFile = config.has('passphraseFile')
      ? readPath(config, 'passphraseFile', prefix)
      : undefined;
    const path = readPath(config, 'keyFile', prefix);
    return { chainFile, key: { kind: 'file', path, passphraseFile } };
  }
  for (const key of ['keyFile', 'passphraseFile']) {
    if (config.has(key)) {
      throw new InputError(`${prefix}${key} must not be set with pkcs11`);
    }
  }
  const tokenPrefix = `${prefix}pkcs11.`;
  requireKnownKeys(token, tokenPrefix, ['module', 'token', 'key', 'pinFile']);
  const place = {
    module: readPath(token, 'module', tokenPrefix),
    token: token.getString('token'),
    key: token.getString('key'),
    pinFile: readPath(token, 'pinFile', tokenPrefix),
  };
  return { chainFile, key: { kind: 'pkcs11', place } };
}

function readLimit(config: Config | undefined): ServeConfig['limit'] {
  if (!config) {
    return undefined;
  }
  requireKnownKeys(config, 'limit.', ['certificates', 'per']);
  const certificates = config.getNumber('certificates');
  if (!Number.isSafeInteger(certificates) || certificates < 1) {
    throw new InputError(
      'limit.certificates must be a whole number, at least 1',
    );
  }
  const perMs = readMilliseconds(config, 'per', {
    prefix: 'limit',
    fallback: { minutes: 1 },
  });
  return { certificates, perMs };
}

function readPath(config: Config, key: string, prefix = ''): string {
  const path = config.getString(key);
  if (!isAbsolute(path)) {
    throw new InputError(
      `${prefix}${key} must be an absolute path, not "${path}"`,
    );
  }
  return path;
}

function readUrl(config: Config, key: string): string {
  const url = config.getString(key);
  if (!URL.canParse(url) || !/^https?:\/\//.test(url)) {
    throw new InputError(`${key} must be an http:// or https:// URL`);
  }
  return url.replace(/\/+$/, '');
}

/** @throws InputError for an unknown key, for example a misspelled one. */
function requireKnownKeys(
  config: Config,
  prefix: string,
  known: readonly string[],
): void {
  const unknown = config.keys().find(key => !known.includes(key));
  if (unknown !== undefined) {
    throw new InputError(
      `${prefix}${unknown} is not a known key; known keys are ${known.join(
        ', ',
      )}`,
    );
  }
}
