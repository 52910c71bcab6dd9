import { readDurationFromConfig, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { durationToMilliseconds, type HumanDuration } from '@backstage/types';
import { isLoopback } from '../isLoopback';

/** How the directory's servers are reached. Durations in milliseconds. */
export interface LdapConfig {
  readonly servers: readonly string[];
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
  const servers = config.getStringArray('servers');
  const startTls = config.getOptionalBoolean('startTls') ?? false;
  if (servers.length === 0) {
    throw new InputError('directory.ldap.servers must name a server');
  }
  for (const server of servers) {
    checkServer(server, startTls);
  }
  return Object.freeze({
    servers,
    startTls,
    caFile: config.getOptionalString('caFile'),
    baseDn: config.getString('baseDn'),
    bindDn: config.getString('bindDn'),
    bindPassword: readBindPassword(config),
    connectTimeoutMs: readMs(config, 'connectTimeout', { seconds: 2 }),
    operationTimeoutMs: readMs(config, 'operationTimeout', { seconds: 5 }),
    maxConnections: readCount(config, 'maxConnections', 4),
    pipelining: readCount(config, 'pipelining', 16),
    maxQueued: readCount(config, 'maxQueued', 1000),
    breaker: Object.freeze({
      failures: readCount(config, 'breaker.failures', 3),
      initialMs: readMs(config, 'breaker.initial', { milliseconds: 100 }),
      maxMs: readMs(config, 'breaker.max', { seconds: 1 }),
    }),
    probeIntervalMs: readMs(config, 'probeInterval', { minutes: 1 }),
  });
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
      `directory.ldap.${key} must be a whole number above 0`,
    );
  }
  return count;
}
