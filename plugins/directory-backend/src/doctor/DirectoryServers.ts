import { isError } from '@backstage/errors';
import {
  type DoctorFinding,
  explainConnectionError,
  finding,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type Client, ResultCodeError } from 'ldapts';
import type { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  bind,
  connectClient,
  isRejectedBind,
  type LdapConfig,
  LdapPool,
  LdapReader,
  LdapReplicaSource,
  LdapServers,
  readCa,
  readPassword,
  withDeadline,
} from '@directory-gateway/ldap';
import type { Portal } from './Portal';

const DNS_TIMEOUT_MS = 1000;

/** Steps of a connection, in order; a connection that is `bound` is usable. */
export const STEPS = ['dns', 'connect', 'tls', 'bind', 'bound'] as const;
export type Step = (typeof STEPS)[number];

/** Result of a connection attempt. */
export interface Probe {
  readonly url: string;
  /** The step that failed, or `bound`. */
  readonly step: Step;
  /** Finding of the step that failed. */
  readonly finding?: DoctorFinding;
  /** The server's certificate. */
  readonly certificate?: X509Certificate;
}

type OpenDirectory = ReturnType<typeof openDirectory>;

/** Connects the backend's own components to servers. */
function openDirectory(portal: Portal, urls: readonly string[]) {
  const { ldap, schema } = portal.directory;
  const { baseDn, bindDn, probeIntervalMs } = ldap;
  const searcher = new LdapPool({
    config: { ...ldap, servers: { kind: 'urls', urls } },
    logger: silentLogger,
  });
  portal.onClose(() => searcher.close());
  const reader = new LdapReader({
    searcher,
    schema,
    baseDn,
    bindDn,
    maxAgeMs: probeIntervalMs,
    logger: silentLogger,
  });
  const source = new LdapReplicaSource({ reader, schema, ldap });
  return { baseDn, bindDn, schema, searcher, reader, source };
}

/** Result codes of a bind (RFC 4511 §4.1.9). */
function explainRejectedBind(
  error: unknown,
  { url, bindDn, baseDn }: LdapConfig & { readonly url: string },
): DoctorFinding {
  const cause = isError(error) ? error.cause : undefined;
  const code = cause instanceof ResultCodeError ? cause.code : 0;
  const manager = `-H ${url} -D 'cn=Directory Manager' -W`;
  switch (code) {
    case 49:
    case 48:
    case 32:
      return finding.fail(
        `The directory refused the password of ${bindDn}, or has no such account (result code ${code})`,
        `compare: ldapwhoami -x -H ${url} -D '${bindDn}' -W`,
        `set a new password: ldappasswd -x ${manager} -S '${bindDn}'`,
      );
    case 53:
    case 19:
      return finding.fail(
        `The account ${bindDn} is locked or its password has expired (result code ${code})`,
        `unlock it: dsidm INSTANCE -b '${baseDn}' account unlock '${bindDn}', or remove nsAccountLock with ldapmodify -x ${manager}`,
        'passwordExpirationTime: 20380119031407Z in its entry prevents expiry',
      );
    default:
      return finding.fail(
        `The directory does not allow ${bindDn} to bind in this way (result code ${code})`,
        'use ldaps:// in directory.ldap.servers, or set directory.ldap.startTls: true',
      );
  }
}

/** Connects a client that does not bind; the directory may refuse the search. */
async function readRootDse(client: Client): Promise<void> {
  try {
    await client.search('', { scope: 'base', attributes: ['1.1'] });
  } catch (error) {
    if (!(error instanceof ResultCodeError)) {
      throw error;
    }
  }
}

/** Connections to the directory that the checks of one run share. */
export class DirectoryServers {
  readonly #portal: Portal;
  #probes: Promise<readonly Probe[]> | undefined;
  #opened: Promise<OpenDirectory> | undefined;

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  get config(): LdapConfig {
    return this.#portal.directory.ldap;
  }

  /** Probes each server once. */
  probes(): Promise<readonly Probe[]> {
    this.#probes ??= this.#urls().then(urls =>
      Promise.all(urls.map(url => this.#probe(url))),
    );
    return this.#probes;
  }

  /** Returns the backend's own components, for the servers that can be used. */
  open(): Promise<OpenDirectory> {
    this.#opened ??= this.probes().then(probes =>
      openDirectory(
        this.#portal,
        probes.filter(({ step }) => step === 'bound').map(({ url }) => url),
      ),
    );
    return this.#opened;
  }

  async #urls(): Promise<readonly string[]> {
    const servers = new LdapServers({
      config: this.config,
      logger: silentLogger,
      resolver: new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 }),
    });
    this.#portal.onClose(() => servers.close());
    return (await servers.inOrder()).map(({ url }) => url);
  }

  async #probe(url: string): Promise<Probe> {
    const { config } = this;
    const ca = await readCa(config);
    // Another check reports an unreadable password.
    const bindPassword = await readPassword(config).catch(() => undefined);
    const endpoint = {
      url,
      startTls: config.startTls,
      ca,
      bindDn: config.bindDn,
      bindPassword: bindPassword ?? '',
    };
    let certificate: X509Certificate | undefined;
    let socketError: unknown;
    let isConnected = false;
    const sockets: Socket[] = [];
    const onSocket = (socket: Socket) => {
      sockets.push(socket);
      socket.once('connect', () => {
        isConnected = true;
      });
      socket.on('error', error => {
        socketError ??= error;
      });
      if (socket instanceof TLSSocket) {
        socket.once('secureConnect', () => {
          certificate = socket.getPeerX509Certificate();
        });
      }
    };
    const connect = async () => {
      const { client } = await connectClient(endpoint, onSocket);
      await (bindPassword === undefined
        ? readRootDse(client)
        : bind(client, endpoint));
    };
    try {
      await withDeadline(connect(), {
        ms: Math.min(config.connectTimeoutMs, this.#portal.responseMs),
        error: () => new Error('timeout'),
      });
      return { url, step: 'bound', certificate };
    } catch (error) {
      if (isRejectedBind(error)) {
        const rejection = explainRejectedBind(error, { ...config, url });
        return { url, step: 'bind', finding: rejection, certificate };
      }
      return {
        url,
        certificate,
        ...explainConnectionError(socketError ?? error, {
          url,
          isConnected,
          urlKey: `directory.ldap.${
            config.servers.kind === 'srv' ? 'srv' : 'servers'
          }`,
          caKey: 'directory.ldap.caFile',
        }),
      };
    } finally {
      sockets.forEach(socket => socket.destroy());
    }
  }
}
