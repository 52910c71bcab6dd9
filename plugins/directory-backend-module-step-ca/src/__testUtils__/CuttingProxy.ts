import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { StepCaFiles } from './StepCaFiles';

/**
 * A proxy in front of step-ca that terminates TLS, so that it can cut a
 * connection exactly before or after step-ca has signed.
 */
export class CuttingProxy {
  /**
   * When the next signing request is cut: `before` step-ca receives it, `after`
   * step-ca has responded, or after `half` of the response.
   */
  cut: 'before' | 'after' | 'half' | undefined;
  /** Number of connections that were cut. */
  cuts = 0;
  readonly #server: Server;
  readonly #target: { readonly url: string; readonly files: StepCaFiles };

  static async start(target: {
    readonly url: string;
    readonly files: StepCaFiles;
  }): Promise<CuttingProxy> {
    const server = createServer(await target.files.serverIdentity());
    const proxy = new CuttingProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  private constructor(
    server: Server,
    target: { readonly url: string; readonly files: StepCaFiles },
  ) {
    this.#target = target;
    this.#server = server.on('request', (req, res) => {
      this.#serve(req, res).catch(error => res.destroy(error));
    });
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const cut = req.url === '/1.0/sign' ? this.cut : undefined;
    const body = await buffer(req);
    if (cut) {
      this.cut = undefined;
      this.cuts += 1;
    }
    if (cut === 'before') {
      req.socket.destroy();
      return;
    }
    const { status, content } = await this.#forward(req, body);
    if (cut === 'after') {
      req.socket.destroy();
      return;
    }
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': content.length,
    });
    if (cut === 'half') {
      res.write(content.subarray(0, content.length / 2), () =>
        req.socket.destroy(),
      );
      return;
    }
    res.end(content);
  }

  async #forward(req: IncomingMessage, body: Buffer) {
    const { url, files } = this.#target;
    const forwarded = request(`${url}${req.url}`, {
      method: req.method,
      ca: readFileSync(files.rootFile),
      agent: false,
    });
    forwarded.end(body);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, content: await buffer(response) };
  }
}
