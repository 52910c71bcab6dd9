import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/**
 * OpenSSL's TLS server, which requires a valid client certificate that is not
 * in the CRL.
 */
export class TlsServer {
  readonly #process: ChildProcess;
  readonly #port: number;

  /** @param options - PEM files; `ca`: the CA certificate and its CRL */
  static async start(options: {
    readonly certificate: string;
    readonly key: string;
    readonly ca: string;
  }): Promise<TlsServer> {
    const server = spawn(
      'openssl',
      [
        ...['s_server', '-accept', '127.0.0.1:0', '-www'],
        ...['-cert', options.certificate, '-key', options.key],
        ...['-Verify', '2', '-verify_return_error', '-crl_check'],
        ...['-CAfile', options.ca],
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let output = '';
    for await (const chunk of server.stdout.setEncoding('utf8')) {
      output += chunk;
      const [, port] = /^ACCEPT 127\.0\.0\.1:(\d+)$/m.exec(output) ?? [];
      if (port) {
        return new TlsServer(server, Number(port));
      }
    }
    throw new Error('The TLS server did not start');
  }

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.#port = port;
  }

  /**
   * Sends a request with a client certificate.
   *
   * @returns the response
   * @throws Error with the TLS alert when the server rejects the client.
   */
  async request(client: {
    readonly certificate: string;
    readonly key: string;
  }): Promise<string> {
    const socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      cert: client.certificate,
      key: client.key,
      // The server's certificate is not tested.
      rejectUnauthorized: false,
    });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    return await readAll(socket);
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill();
    await exited;
  }
}

async function readAll(socket: TLSSocket): Promise<string> {
  let response = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    response += chunk;
  }
  return response;
}
