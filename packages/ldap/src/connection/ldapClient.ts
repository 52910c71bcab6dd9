import { readSecretFile } from '@directory-gateway/secret-files';
import { Client } from 'ldapts';
import { readFile } from 'node:fs/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { CheckedSocket } from './CheckedSocket';
import type { LdapConfig } from './LdapConfig';
import { toBindError, unreachable } from './ldapErrors';

const KEEP_ALIVE_MS = 30_000;

/** OID of the extended operation StartTLS (RFC 4511 §4.14). */
const START_TLS = '1.3.6.1.4.1.1466.20037';

/** Parameters for connecting to a server and binding. */
export interface LdapEndpoint {
  /** `ldaps://…`, or `ldap://…` to loopback or with `startTls`. */
  readonly url: string;
  readonly startTls: boolean;
  /** Trusted CAs in PEM. Default: the system's CAs. */
  readonly ca?: string;
  readonly bindDn: string;
  readonly bindPassword: string;
}

/** A client and its socket. The client cannot connect a second time. */
export interface ConnectedClient {
  readonly client: Client;
  readonly socket: CheckedSocket;
}

/**
 * Connects a client, and starts TLS if the endpoint requires it.
 *
 * @param onSocket - called for each socket when it starts to connect. The caller
 *   destroys the sockets when the client is no longer used, or to abort.
 */
export async function connectClient(
  endpoint: LdapEndpoint,
  onSocket: (socket: Socket) => void,
): Promise<ConnectedClient> {
  const { hostname, port, protocol } = new URL(endpoint.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const tlsOptions = {
    host,
    // Server Name Indication allows only names (RFC 6066 §3); the certificate
    // is also checked for an IP address.
    servername: isIP(host) ? undefined : host,
    ca: endpoint.ca,
  };
  if (protocol === 'ldaps:') {
    const socket = connectTls({ ...tlsOptions, port: Number(port || 636) });
    onSocket(prepared(socket));
    await event('secureConnect', socket);
    return clientOf(socket);
  }
  const socket = connectTcp({ host, port: Number(port || 389) });
  onSocket(prepared(socket));
  await event('connect', socket);
  const plain = clientOf(socket);
  if (!endpoint.startTls) {
    return plain;
  }
  await plain.client.exop(START_TLS);
  const secure = connectTls({ ...tlsOptions, socket: plain.socket.detach() });
  onSocket(secure);
  await event('secureConnect', secure);
  return clientOf(secure);
}

function prepared(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}

function event(name: string, socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket
      .once(name, resolve)
      .once('error', reject)
      .once('close', () => reject(unreachable('The connection was closed')));
  });
}

function clientOf(connected: Socket): ConnectedClient {
  const socket = new CheckedSocket(connected);
  let isUsed = false;
  const client = new Client({
    url: 'ldap://connected',
    createConnection: () => {
      if (isUsed) {
        throw unreachable('The connection was closed');
      }
      isUsed = true;
      // The methods of a stream are all that ldapts uses.
      return socket as Duplex as Socket;
    },
  });
  return { client, socket };
}

/**
 * Binds the service account.
 *
 * @throws DirectoryUnavailableError with the reason `refused` when the bind is
 *   rejected.
 */
export async function bind(
  client: Client,
  endpoint: LdapEndpoint,
): Promise<void> {
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
async function readPassword({
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
