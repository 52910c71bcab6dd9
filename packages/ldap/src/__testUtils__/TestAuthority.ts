import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { type TLSSocket, createServer } from 'node:tls';

const run = promisify(execFile);

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** PEM-encoded key and certificate of a server. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

/** A CA for tests, created with OpenSSL. */
export class TestAuthority {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<TestAuthority> {
    const folder = await mkdtemp(join(tmpdir(), 'authority-'));
    const authority = new TestAuthority(folder);
    const config = '[req]\ndistinguished_name = names\n[names]\n';
    await writeFile(authority.#file('openssl.cnf'), config);
    await authority.#request(
      ...['-x509', '-subj', '/CN=Test CA'],
      ...['-addext', 'basicConstraints=critical,CA:TRUE'],
      ...['-keyout', authority.#file('ca.key'), '-out', authority.caFile],
    );
    return authority;
  }

  /** Path of the PEM-encoded CA certificate. */
  get caFile(): string {
    return this.#file('ca.pem');
  }

  /** Issues a certificate for a host. With negative days, it has expired. */
  async issue(options: {
    readonly host: string;
    readonly days: number;
  }): Promise<ServerCertificate> {
    const [key, csr, cert] = ['key', 'csr', 'pem'].map(end =>
      this.#file(`server.${end}`),
    );
    await this.#request(
      ...['-subj', `/CN=${options.host}`],
      ...['-addext', `subjectAltName=DNS:${options.host}`],
      ...['-keyout', key, '-out', csr],
    );
    await run('openssl', [
      ...['x509', '-req', '-in', csr, '-copy_extensions', 'copy'],
      ...['-CA', this.caFile, '-CAkey', this.#file('ca.key')],
      ...['-days', String(options.days), '-out', cert],
    ]);
    return {
      key: await readFile(key, 'utf8'),
      cert: await readFile(cert, 'utf8'),
    };
  }

  /** Removes the files of the CA. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #request(...args: readonly string[]): Promise<void> {
    const config = this.#file('openssl.cnf');
    await run('openssl', [
      ...['req', '-config', config, '-new', ...NEW_KEY, '-nodes'],
      ...args,
    ]);
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

/** A TLS listener in front of a server without TLS. */
export interface TlsFront {
  /** URL of the form `ldaps://localhost:PORT`. */
  readonly url: string;
  /** Number of accepted connections. */
  accepted(): number;
  stop(): void;
}

/** Starts a TLS listener with a certificate that forwards to a URL. */
export async function startTlsFront(
  certificate: ServerCertificate,
  ldapUrl: string,
): Promise<TlsFront> {
  const clients = new Set<TLSSocket>();
  let accepted = 0;
  const server = createServer({ ...certificate }, client => {
    clients.add(client);
    const port = Number(new URL(ldapUrl).port);
    pipeline(client, connect({ port, host: '127.0.0.1' }), client, () =>
      clients.delete(client),
    );
  });
  server.on('connection', () => {
    accepted++;
  });
  // Ignores clients that reject the certificate.
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `ldaps://localhost:${port}`,
    accepted: () => accepted,
    stop() {
      server.close();
      for (const client of clients) {
        client.destroy();
      }
    },
  };
}
