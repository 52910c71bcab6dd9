import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  isLoopback,
  readMilliseconds,
} from '@directory-gateway/backstage-plugin-directory-node';

const PREFIX = 'directory.ldap';

/** Servers from DNS SRV records. */
export interface LdapSrvConfig {
  readonly kind: 'srv';
  /** For example `_ldap._tcp.example.org`. */
  readonly name: string;
  /** Domain of the servers in lower case, for example `example.org`. */
  readonly domain: string;
  readonly scheme: 'ldap' | 'ldaps';
}

/** Typed form of `directory.ldap`. Durations are in milliseconds. */
export type LdapConfig = ReturnType<typeof readLdapConfig>;

/**
 * Reads `directory.ldap`. All keys are described in `config.d.ts`.
 *
 * @throws InputError that names the invalid or missing key.
 */
export function readLdapConfig(config: Config) {
  const startTls = config.getOptionalBoolean('startTls') ?? false;
  const decisionTimeoutMs = readMilliseconds(config, 'decisionTimeout', {
    prefix: PREFIX,
    fallback: { seconds: 1 },
  });
  return Object.freeze({
    servers: readServers(config, startTls),
    startTls,
    caFile: config.getOptionalString('caFile'),
    baseDn: config.getString('baseDn'),
    bindDn: config.getString('bindDn'),
    bindPassword: readBindPassword(config),
    decisionTimeoutMs,
    /** Maximum time to connect, start TLS and bind. */
    connectTimeoutMs: Math.max(2000, 2 * decisionTimeoutMs),
    /** Maximum time of each page of a long result, such as all users. */
    operationTimeoutMs: Math.max(5000, 5 * decisionTimeoutMs),
    probeIntervalMs: readMilliseconds(config, 'probeInterval', {
      prefix: PREFIX,
      fallback: { minutes: 1 },
    }),
  });
}

function readServers(
  config: Config,
  startTls: boolean,
): { readonly kind: 'urls'; readonly urls: readonly string[] } | LdapSrvConfig {
  const urls = config.getOptionalStringArray('servers');
  const srv = config.getOptionalConfig('srv');
  if ((urls === undefined) === (srv === undefined)) {
    throw new InputError(`Set one of ${PREFIX}.servers and ${PREFIX}.srv`);
  }
  if (srv) {
    return readSrv(srv, startTls);
  }
  if (urls!.length === 0) {
    throw new InputError(`${PREFIX}.servers must contain at least one server`);
  }
  for (const url of urls!) {
    checkServer(url, startTls);
  }
  return { kind: 'urls', urls: urls! };
}

/**
 * Reads `directory.ldap.srv`. `_ldap` is the registered service name; `_ldaps`
 * is used by convention.
 */
function readSrv(config: Config, startTls: boolean): LdapSrvConfig {
  const name = config.getString('name');
  const scheme = /^_ldaps\./i.test(name) ? 'ldaps' : 'ldap';
  if (scheme === 'ldap' && !startTls) {
    throw new InputError(
      `${PREFIX}.srv.name lists servers without TLS: set ${PREFIX}.startTls, or use _ldaps records`,
    );
  }
  // The labels after the last one with an underscore: `example.org` of
  // `_ldap._tcp.paris._locations.example.org`.
  const domain = name
    .replace(/^.*_[^.]*\.?/, '')
    .toLowerCase()
    .replace(/\.$/, '');
  if (domain === '') {
    throw new InputError(
      `${PREFIX}.srv.name must end with a domain, such as _ldap._tcp.example.org, not "${name}"`,
    );
  }
  return { kind: 'srv', name, domain, scheme };
}

/**
 * Requires that credentials and personal data use TLS or stay on this machine.
 */
function checkServer(server: string, startTls: boolean): void {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !['ldap:', 'ldaps:'].includes(url.protocol)) {
    throw new InputError(
      `${PREFIX}.servers must be ldaps:// or ldap:// URLs, not "${server}"`,
    );
  }
  if (url.username || url.password) {
    throw new InputError(
      `${PREFIX}.servers must not contain user names or passwords: set ${PREFIX}.bindDn and ${PREFIX}.bindPasswordFile`,
    );
  }
  if (url.protocol === 'ldap:' && !startTls && !isLoopback(url.hostname)) {
    throw new InputError(
      `${PREFIX}.servers contains ${server} without TLS: use ldaps://, or set ${PREFIX}.startTls`,
    );
  }
}

function readBindPassword(
  config: Config,
):
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string } {
  const path = config.getOptionalString('bindPasswordFile');
  const value = config.getOptionalString('bindPassword');
  if ((path === undefined) === (value === undefined)) {
    throw new InputError(
      `Set one of ${PREFIX}.bindPasswordFile and ${PREFIX}.bindPassword`,
    );
  }
  return path === undefined
    ? { kind: 'value', value: value! }
    : { kind: 'file', path };
}
