import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface RecordedRequest {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What to answer; the status is 200 unless given. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

/** An HTTP server on loopback that answers as a test says and remembers what it was asked. */
export class RecordingServer {
  /** What was asked since the server started or the test cleared it. */
  requests: RecordedRequest[] = [];

  /** What to answer. */
  answer: (request: RecordedRequest) => Answer = () => ({ body: '{}' });

  readonly #server: Server;

  static async start(): Promise<RecordingServer> {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new RecordingServer(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', async (incoming, response) => {
      const request = await record(incoming);
      this.requests.push(request);
      const { status = 200, headers, body } = this.answer(request);
      response.writeHead(status, {
        'Content-Type': 'application/json',
        ...headers,
      });
      response.end(body);
    });
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const { method = '', url: target = '', headers } = incoming;
  let body = '';
  for await (const chunk of incoming) {
    body += chunk;
  }
  return { method, target, headers, body };
}
