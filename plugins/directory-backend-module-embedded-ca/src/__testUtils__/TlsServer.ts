import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/**
 * OpenSSL's TLS server, which lets in clients with a certificate that is good
 * by the revocation list, and no others.
 */
export class TlsServer {
  readonly #process: ChildProcess;
  readonly #port: number;

  /** Paths of PEM files. `ca` holds the authority and its revocation list. */
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
    let said = '';
    for await (const chunk of server.stdout.setEncoding('utf8')) {
      said += chunk;
      const [, port] = /^ACCEPT 127\.0\.0\.1:(\d+)$/m.exec(said) ?? [];
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
   * Asks with a client's certificate.
   *
   * @returns what the server answers
   * @throws Error with the alert when it does not let the client in.
   */
  async ask(client: {
    readonly certificate: string;
    readonly key: string;
  }): Promise<string> {
    const socket = connect({
      host: '127.0.0.1',
      port: this.#port,
      cert: client.certificate,
      key: client.key,
      // The server's own certificate is not what is tried here.
      rejectUnauthorized: false,
    });
    socket.write('GET / HTTP/1.0\r\n\r\n');
    return await readAll(socket);
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill();
    await gone;
  }
}

async function readAll(socket: TLSSocket): Promise<string> {
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    answer += chunk;
  }
  return answer;
}
