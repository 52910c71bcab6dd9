import { type Config, readDurationFromConfig } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { type HumanDuration, durationToMilliseconds } from '@backstage/types';
import { isIP } from 'node:net';

/** Servers that DNS names. */
export interface LdapSrvConfig {
  readonly kind: 'srv';
  /** For example `_ldap._tcp.example.org`. */
  readonly name: string;
  /** Domain of the servers, lower case, for example `example.org`. */
  readonly domain: string;
  readonly scheme: 'ldap' | 'ldaps';
  readonly refreshMs: number;
}

/** How the directory's servers are reached. Durations in milliseconds. */
export interface LdapConfig {
  readonly servers:
    | { readonly kind: 'urls'; readonly urls: readonly string[] }
    | LdapSrvConfig;
  readonly startTls: boolean;
  readonly caFile?: string;
  readonly baseDn: string;
  readonly bindDn: string;
  readonly bindPassword:
    | { readonly kind: 'value'; readonly value: string }
    | { readonly kind: 'file'; readonly path: string };
  readonly connectTimeoutMs: number;
  readonly operationTimeoutMs: number;
  readonly maxConnections: number;
  readonly pipelining: number;
  readonly maxQueued: number;
  readonly idleProbeMs: number;
  readonly breaker: {
    readonly failures: number;
    readonly initialMs: number;
    readonly maxMs: number;
  };
  readonly probeIntervalMs: number;
}

/**
 * Reads `directory.ldap`. Every key is described in `config.d.ts`.
 *
 * @throws InputError that names the key that is wrong or missing.
 */
export function readLdapConfig(config: Config): LdapConfig {
  const startTls = config.getOptionalBoolean('startTls') ?? false;
  return Object.freeze({
    servers: readServers(config, startTls),
    startTls,
    caFile: config.getOptionalString('caFile'),
    baseDn: config.getString('baseDn'),
    bindDn: config.getString('bindDn'),
    bindPassword: readBindPassword(config),
    connectTimeoutMs: readMs(config, 'connectTimeout', { seconds: 2 }),
    operationTimeoutMs: readMs(config, 'operationTimeout', { seconds: 5 }),
    maxConnections: readCount(config, 'maxConnections', 16),
    pipelining: readCount(config, 'pipelining', 1),
    maxQueued: readCount(config, 'maxQueued', 1000),
    idleProbeMs: readMs(config, 'idleProbe', { seconds: 15 }),
    breaker: Object.freeze({
      failures: readCount(config, 'breaker.failures', 3),
      initialMs: readMs(config, 'breaker.initial', { milliseconds: 100 }),
      maxMs: readMs(config, 'breaker.max', { seconds: 1 }),
    }),
    probeIntervalMs: readMs(config, 'probeInterval', { minutes: 1 }),
  });
}

function readServers(config: Config, startTls: boolean): LdapConfig['servers'] {
  const urls = config.getOptionalStringArray('servers');
  const srv = config.getOptionalConfig('srv');
  if ((urls === undefined) === (srv === undefined)) {
    throw new InputError(
      'Set one of directory.ldap.servers and directory.ldap.srv',
    );
  }
  if (srv) {
    return readSrv(srv, startTls);
  }
  if (urls!.length === 0) {
    throw new InputError('directory.ldap.servers must name a server');
  }
  for (const server of urls!) {
    checkServer(server, startTls);
  }
  return { kind: 'urls', urls: urls! };
}

/** The registered services are `_ldap` and, by custom, `_ldaps`. */
function readSrv(config: Config, startTls: boolean): LdapSrvConfig {
  const name = config.getString('name');
  const scheme = /^_ldaps\./i.test(name) ? 'ldaps' : 'ldap';
  if (scheme === 'ldap' && !startTls) {
    throw new InputError(
      'directory.ldap.srv.name stands for servers without TLS: set directory.ldap.startTls, or name _ldaps records',
    );
  }
  const refreshMs = readMs(config, 'refresh', { minutes: 5 });
  const domain = (config.getOptionalString('domain') ?? domainOf(name))
    .toLowerCase()
    .replace(/\.$/, '');
  if (domain === '') {
    throw new InputError(
      `directory.ldap.srv.name must end with a domain, as _ldap._tcp.example.org does, not "${name}"`,
    );
  }
  return { kind: 'srv', name, domain, scheme, refreshMs };
}

/**
 * The labels after the last one with an underscore: `example.org` of
 * `_ldap._tcp.example.org` and of `_ldap._tcp.paris._locations.example.org`.
 */
function domainOf(name: string): string {
  return name.replace(/^.*_[^.]*\.?/, '');
}

/** Credentials and people travel over TLS, or do not leave the machine. */
function checkServer(server: string, startTls: boolean): void {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !['ldap:', 'ldaps:'].includes(url.protocol)) {
    throw new InputError(
      `directory.ldap.servers must be ldaps:// or ldap:// URLs, not "${server}"`,
    );
  }
  if (url.protocol === 'ldap:' && !startTls && !isLoopback(url.hostname)) {
    throw new InputError(
      `directory.ldap.servers names ${server} without TLS: use ldaps://, or set directory.ldap.startTls`,
    );
  }
}

function readBindPassword(config: Config): LdapConfig['bindPassword'] {
  const path = config.getOptionalString('bindPasswordFile');
  const value = config.getOptionalString('bindPassword');
  if ((path === undefined) === (value === undefined)) {
    throw new InputError(
      'Set one of directory.ldap.bindPasswordFile and directory.ldap.bindPassword',
    );
  }
  return path === undefined
    ? { kind: 'value', value: value! }
    : { kind: 'file', path };
}

function readMs(config: Config, key: string, fallback: HumanDuration): number {
  return durationToMilliseconds(
    config.has(key) ? readDurationFromConfig(config, { key }) : fallback,
  );
}

function readCount(config: Config, key: string, fallback: number): number {
  const count = config.getOptionalNumber(key) ?? fallback;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new InputError(
      `directory.ldap.${key} must be a whole number, at least 1`,
    );
  }
  return count;
}

/** Whether a URL's host name stands for this machine itself. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return (
    host === 'localhost' ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}
