import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Client } from 'ldapts';
import { DirectoryUnavailableError } from '../../directory/errors';
import { toBindError } from './ldapErrors';

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
