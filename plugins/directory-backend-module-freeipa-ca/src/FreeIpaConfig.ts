import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { readAbsolutePath } from '@directory-gateway/backstage-plugin-directory-node';

/** Key of the module's block of the configuration. */
export const BLOCK = 'directory.certificates.freeipa';

/** The gateway's account at FreeIPA. */
export interface FreeIpaLoginConfig {
  readonly kind: 'kerberos' | 'password';
  /** Principal, or name of a user. */
  readonly account: string;
  /**
   * Absolute path of the keytab, or of the file with the password; `undefined`:
   * the environment provides tickets.
   */
  readonly file?: string;
  /** Configuration key of the file. */
  readonly fileKey: string;
}

/** `directory.certificates.freeipa`. Durations in milliseconds. */
export interface FreeIpaConfig {
  /** Origins, for example `https://ipa1.example.org`. */
  readonly servers: readonly string[];
  /** Absolute path. */
  readonly caFile: string;
  readonly cacn: string;
  readonly login: FreeIpaLoginConfig;
  /** Maximum duration of a request, including the response. */
  readonly requestTimeoutMs: number;
  /** Maximum duration of the search for a certificate after a lost response. */
  readonly lostResponseSearchMs: number;
}

/**
 * Reads `directory.certificates.freeipa`, described in `config.d.ts`.
 *
 * @returns `undefined` when the block is missing
 * @throws InputError that names the invalid key.
 */
export function readFreeIpaConfig(root: Config): FreeIpaConfig | undefined {
  const config = root.getOptionalConfig(BLOCK);
  if (!config) {
    return undefined;
  }
  return {
    servers: readServers(config),
    caFile: requirePath(config, 'caFile', BLOCK),
    cacn: config.getOptionalString('cacn') ?? 'ipa',
    login: readLogin(config.getConfig('login')),
    // FreeIPA needs 10 to 20 seconds for the first request after a restart.
    requestTimeoutMs: 30_000,
    lostResponseSearchMs: 10_000,
  };
}

/**
 * Requires https origins: FreeIPA's paths are fixed, and a login must not be
 * sent unencrypted.
 */
function readServers(config: Config): readonly string[] {
  const servers = config.getStringArray('servers').map(server => {
    const url = URL.canParse(server) ? new URL(server) : undefined;
    if (url?.protocol !== 'https:' || url.href !== `${url.origin}/`) {
      throw new InputError(
        `${BLOCK}.servers must be URLs such as https://ipa.example.org, not "${server}"`,
      );
    }
    return url.origin;
  });
  if (servers.length === 0 || new Set(servers).size < servers.length) {
    throw new InputError(`${BLOCK}.servers must contain different servers`);
  }
  return servers;
}

/** @throws InputError when the path is missing or not absolute. */
function requirePath(config: Config, key: string, prefix: string): string {
  const path = readAbsolutePath(config, key, prefix);
  if (path === undefined) {
    throw new InputError(`${prefix}.${key} is missing`);
  }
  return path;
}

function readLogin(config: Config): FreeIpaLoginConfig {
  const prefix = `${BLOCK}.login`;
  const principal = config.getOptionalString('principal');
  const username = config.getOptionalString('username');
  if ((principal === undefined) === (username === undefined)) {
    throw new InputError(
      `Set one of ${prefix}.principal (with keytab) and ${prefix}.username (with passwordFile)`,
    );
  }
  return username === undefined
    ? {
        kind: 'kerberos',
        account: principal!,
        file: readAbsolutePath(config, 'keytab', prefix),
        fileKey: `${prefix}.keytab`,
      }
    : {
        kind: 'password',
        account: username,
        file: requirePath(config, 'passwordFile', prefix),
        fileKey: `${prefix}.passwordFile`,
      };
}
