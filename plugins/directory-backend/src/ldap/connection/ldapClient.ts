import { readSecretFile } from '@directory-gateway/secret-files';
import { Client } from 'ldapts';
import { readFile } from 'node:fs/promises';
import { type Socket, connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { checkMessages } from './checkMessages';
import type { LdapConfig } from './LdapConfig';
import { toBindError, unreachable } from './ldapErrors';

const KEEP_ALIVE_MS = 30_000;

/** Parameters for connecting to a server and binding. */
export interface LdapEndpoint {
  /** `ldaps://…`, or `ldap://…` to loopback or with `startTls`. */
  readonly url: string;
  readonly startTls: boolean;
  /** Trusted CAs in PEM. Default: the system's CAs. */
  readonly ca?: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  /** Maximum time in milliseconds to connect and bind. */
  readonly connectTimeoutMs: number;
}

/** Client for a single connection; ldapts alone would reconnect. */
export interface SingleUseClient {
  readonly client: Client;
  /** Whether the connection is writable. */
  readonly isWritable: boolean;
  /** Unbinds if possible, and destroys the sockets. */
  destroy(): void;
}

/** Creates a client that connects once and checks received messages. */
export function createClient(
  endpoint: LdapEndpoint,
  events: Parameters<typeof checkMessages>[1] & {
    /** Called for each socket when it starts to connect. */
    readonly onSocket?: (socket: Socket) => void;
    /** Called when a socket is closed. */
    readonly onClose: () => void;
  },
): SingleUseClient {
  const sockets: Socket[] = [];
  const track = <S extends Socket>(socket: S): S => {
    sockets.push(socket);
    events.onSocket?.(socket);
    socket.once('close', events.onClose);
    return socket;
  };
  const connectOnce = <S extends Socket>(connect: () => S): S => {
    if (sockets.length > 0) {
      throw unreachable('The connection was closed');
    }
    const socket = track(connect());
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
  const { hostname, port, protocol } = new URL(endpoint.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const tlsOptions = {
    host,
    // Server Name Indication allows only names (RFC 6066 §3); the certificate
    // is also checked for an IP address.
    servername: isIP(host) ? undefined : host,
    ca: endpoint.ca,
  };
  const client = new Client({
    url: endpoint.url,
    connectTimeout: endpoint.connectTimeoutMs,
    createConnection: () =>
      connectOnce(() => connectTcp({ host, port: Number(port || 389) })),
    createSecureConnection: (...args: unknown[]) =>
      protocol === 'ldaps:'
        ? connectOnce(() =>
            connectTls({ ...tlsOptions, port: Number(port || 636) }),
          )
        : // StartTLS on the connected socket.
          track(connectTls({ ...tlsOptions, ...(args[0] as object) })),
  });
  checkMessages(client, events);
  return {
    client,
    get isWritable() {
      return sockets.at(-1)?.writable === true;
    },
    destroy() {
      // Not awaited: ldapts waits until the system has taken the request, which
      // does not happen when the other end hangs.
      client.unbind().catch(() => {});
      for (const socket of sockets) {
        // ldapts has no listener on a socket whose handshake failed.
        socket.on('error', () => {}).destroy();
      }
    },
  };
}

/**
 * Starts TLS if the endpoint requires it, and binds.
 *
 * @throws DirectoryUnavailableError with the reason `refused` when the bind is
 *   rejected.
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
 * Reads the files that a connection needs. They are read for each new
 * connection, so that a rotated password or CA takes effect without a restart.
 */
export async function readEndpoint(
  url: string,
  config: LdapConfig,
): Promise<LdapEndpoint> {
  return {
    url,
    startTls: config.startTls,
    ca: await readCa(config),
    bindDn: config.bindDn,
    bindPassword: await readPassword(config),
    connectTimeoutMs: config.connectTimeoutMs,
  };
}

/**
 * Reads `caFile`; `undefined` if it is not set.
 *
 * @throws DirectoryUnavailableError when it cannot be read or is empty.
 */
export async function readCa({
  caFile,
}: Pick<LdapConfig, 'caFile'>): Promise<string | undefined> {
  return caFile && (await readText('directory.ldap.caFile', readFile(caFile)));
}

/**
 * Reads the service account's password.
 *
 * @throws DirectoryUnavailableError when its file cannot be read or is empty.
 */
export async function readPassword({
  bindPassword,
}: Pick<LdapConfig, 'bindPassword'>): Promise<string> {
  if (bindPassword.kind === 'value') {
    return bindPassword.value;
  }
  const key = 'directory.ldap.bindPasswordFile';
  const text = await readText(key, readSecretFile(bindPassword.path));
  return text.replace(/\r?\n$/, '');
}

/**
 * Reads a file and rejects an empty one, because a file may be empty while it
 * is replaced: with an empty password the bind would be anonymous (RFC 4513
 * §5.1.2), and without CAs the system's CAs would be trusted.
 */
async function readText(
  key: string,
  content: Promise<Buffer>,
): Promise<string> {
  let text: string;
  try {
    text = (await content).toString('utf8');
  } catch (error) {
    throw unreachable(`The file named by ${key} cannot be read`, error);
  }
  if (text.trim() === '') {
    throw unreachable(`The file named by ${key} is empty`);
  }
  return text;
}

/** Waits for work until a deadline. Does not stop the work. */
export async function withDeadline<T>(
  work: Promise<T>,
  deadline: { readonly ms: number; readonly error: () => Error },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(deadline.error()), deadline.ms);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
    // The work may reject after the deadline.
    work.catch(() => {});
  }
}
