import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { FakeFreeIpa, type AcceptToken } from './FakeFreeIpa';
import type { FakeVersion } from './describeCertificate';
import type { FakeCa } from './FakeCa';

/** A {@link FakeFreeIpa} behind a real HTTPS server on `localhost`. */
export class FakeHttpsServer {
  readonly freeIpa: FakeFreeIpa;
  /** Number of requests without a response that the client has aborted. */
  aborted = 0;
  readonly #server: Server;
  #port: number | undefined;

  static async start(options: {
    readonly ca: FakeCa;
    readonly version?: FakeVersion;
    readonly accept?: AcceptToken;
  }): Promise<FakeHttpsServer> {
    const freeIpa = new FakeFreeIpa({ ...options, host: 'localhost' });
    const identity = await options.ca.serverIdentity();
    const standIn = new FakeHttpsServer(freeIpa, createServer(identity));
    await standIn.listen();
    return standIn;
  }

  private constructor(freeIpa: FakeFreeIpa, server: Server) {
    this.freeIpa = freeIpa;
    this.#server = server;
    server.on('request', (req, res) => {
      this.#serve(req, res).catch(error => res.destroy(error));
    });
  }

  get origin(): string {
    return `https://localhost:${this.#port}`;
  }

  /** Starts to listen; after `stop`, on the same port as before. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port ?? 0, 'localhost');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes all connections and does not accept more. */
  async stop(): Promise<void> {
    if (this.#server.listening) {
      this.#server.close();
      this.#server.closeAllConnections();
      await once(this.#server, 'close');
    }
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const request = new Request(`${this.origin}${req.url}`, {
      method: req.method,
      headers: Object.entries(req.headersDistinct).flatMap(
        ([name, values = []]) =>
          values.map(value => [name, value] as [string, string]),
      ),
      body: await buffer(req),
    });
    const reply = await this.freeIpa.handle(request);
    if (!('response' in reply)) {
      if (reply.kind === 'cut') {
        req.socket.destroy();
      } else {
        res.once('close', () => {
          this.aborted += 1;
        });
      }
      return;
    }
    const body = Buffer.from(await reply.response.arrayBuffer());
    res.writeHead(reply.response.status, {
      ...Object.fromEntries(reply.response.headers),
      'Content-Length': body.length,
    });
    if (reply.kind === 'half') {
      res.write(body.subarray(0, body.length / 2), () => req.socket.destroy());
      return;
    }
    res.end(body);
  }
}
