import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
export interface RecordedRequest {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A response. Default status: 200. */
export interface RecordedResponse {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

/**
 * An HTTP server that records requests and sends the responses set by a test.
 */
export class RecordingServer {
  /** Requests since the start or the last reset. */
  requests: RecordedRequest[] = [];

  /** Returns the response to a request. */
  respond: (request: RecordedRequest) => RecordedResponse = () => ({
    body: '{}',
  });

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
      const { status = 200, headers, body } = this.respond(request);
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
