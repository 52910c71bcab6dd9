import { type Socket, connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Client } from 'ldapts';
import { DirectoryUnavailableError } from '../../directory/errors';
import { toBindError } from './ldapErrors';
import { readSecretFile } from '@directory-gateway/secret-files';
import { readFile } from 'node:fs/promises';
import type { LdapConfig } from './LdapConfig';

const KEEP_ALIVE_MS = 30_000;

/** Where and as whom a connection is opened. */
export interface LdapEndpoint {
  /** `ldaps://…`, or `ldap://…` to loopback or with `startTls`. */
  readonly url: string;
  readonly startTls: boolean;
  /** PEM of the authorities to trust, in place of the system's. */
  readonly ca?: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  /** Milliseconds until connecting and binding has failed. */
  readonly connectTimeoutMs: number;
}

/** A client that connects once and tells of every socket that it has. */
export function createClient(
  endpoint: LdapEndpoint,
  onSocket: (socket: Socket) => void,
): Client {
  let used = false;
  const connectOnce = <S extends Socket>(connect: () => S): S => {
    if (used) {
      throw new DirectoryUnavailableError('A connection has a single life', {
        reason: 'unreachable',
      });
    }
    used = true;
    const socket = connect();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    onSocket(socket);
    return socket;
  };
  const { hostname, port, protocol } = new URL(endpoint.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const tlsOptions = {
    host,
    // Server name indication takes names only (RFC 6066 §3); an address is
    // compared with the certificate all the same.
    servername: isIP(host) ? undefined : host,
    ca: endpoint.ca,
  };
  /** StartTLS wraps the socket that was connected. */
  const secure = (options: { readonly socket: Socket }) => {
    const socket = connectTls({ ...tlsOptions, ...options });
    onSocket(socket);
    return socket;
  };
  return new Client({
    url: endpoint.url,
    connectTimeout: endpoint.connectTimeoutMs,
    createConnection: () =>
      connectOnce(() => connectTcp({ host, port: Number(port || 389) })),
    createSecureConnection: (...args: unknown[]) =>
      protocol === 'ldaps:'
        ? connectOnce(() =>
            connectTls({ ...tlsOptions, port: Number(port || 636) }),
          )
        : secure(args[0] as { socket: Socket }),
  });
}

/**
 * Secures the connection, if it is not secure from the start, and binds.
 *
 * @throws DirectoryUnavailableError with the reason `refused` when the bind is
 *   refused.
 */
export async function secureAndBind(
  client: Client,
  endpoint: LdapEndpoint,
): Promise<void> {
  if (endpoint.startTls) {
    await client.startTLS();
  }
  try {
    await client.bind(endpoint.bindDn, endpoint.bindPassword);
  } catch (error) {
    throw toBindError(error);
  }
}

/**
 * Where and as whom to connect. The files are read for each new connection,
 * so that a rotated password or authority takes effect without a restart.
 */
export async function readEndpoint(
  url: string,
  config: LdapConfig,
): Promise<LdapEndpoint> {
  return {
    url,
    startTls: config.startTls,
    ca:
      config.caFile &&
      (await readText('directory.ldap.caFile', () => readFile(config.caFile!))),
    bindDn: config.bindDn,
    bindPassword: await readPassword(config),
    connectTimeoutMs: config.connectTimeoutMs,
  };
}

async function readPassword({ bindPassword }: LdapConfig): Promise<string> {
  if (bindPassword.kind === 'value') {
    return bindPassword.value;
  }
  const key = 'directory.ldap.bindPasswordFile';
  const text = await readText(key, () => readSecretFile(bindPassword.path));
  return text.replace(/\r?\n$/, '');
}

/**
 * A file that is being written anew may be empty for a moment. With an empty
 * password the bind would be an anonymous one (RFC 4513 §5.1.2), and without
 * authorities the system's would be trusted.
 */
async function readText(
  key: string,
  read: () => Promise<Buffer>,
): Promise<string> {
  let text: string;
  try {
    text = (await read()).toString('utf8');
  } catch (error) {
    throw new DirectoryUnavailableError(
      `The file named by ${key} cannot be read`,
      { cause: error, reason: 'unreachable' },
    );
  }
  if (text.trim() === '') {
    throw new DirectoryUnavailableError(`The file named by ${key} is empty`, {
      reason: 'unreachable',
    });
  }
  return text;
}

/**
 * Waits for work no longer than a deadline. The work itself goes on: whoever
 * starts it must bear that nobody waits for its end.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  deadline: { readonly ms: number; readonly error: () => Error },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(deadline.error()), deadline.ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The loser of the race may reject later; it has been answered for.
    work.catch(() => {});
  }
}
