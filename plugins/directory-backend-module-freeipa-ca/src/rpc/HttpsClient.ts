import { CustomErrorBase, isError, toError } from '@backstage/errors';
import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, buildConnector } from 'undici';
import { type Clock, systemClock } from './Clock';

/** Larger than any response from FreeIPA with certificates and their chains. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** A POST request. */
export interface HttpsRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the request before `requestTimeout`. */
  readonly signal?: AbortSignal;
}

/** A complete response with any status. */
export interface HttpsResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A request did not receive a complete response. */
export class HttpExchangeError extends CustomErrorBase {
  name = 'HttpExchangeError' as const;

  /**
   * `no`: there was no connection for the request. `perhaps`: the server may
   * have received and processed it.
   */
  readonly sent: 'no' | 'perhaps';

  constructor(message: string, options: Pick<HttpExchangeError, 'sent'>) {
    super(message);
    this.sent = options.sent;
  }
}

/** Options of {@link HttpsClient}. */
export interface HttpsClientOptions {
  /** PEM file of the CAs to trust. Default: those of the system. */
  readonly caFile?: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Sends requests to FreeIPA over HTTPS. Does not follow redirects.
 *
 * Each request has its own connection. Requests are rare and signing is slow,
 * so the cost of the handshake does not matter; on a reused connection, which
 * the server may close at any time, it is not certain whether a request was
 * received. A new `caFile` also takes effect immediately.
 */
export class HttpsClient {
  readonly #options: HttpsClientOptions;

  constructor(options: HttpsClientOptions) {
    this.#options = options;
  }

  /** @throws HttpExchangeError when there is no complete response. */
  async post(request: HttpsRequest): Promise<HttpsResponse> {
    const { clock = systemClock, requestTimeoutMs } = this.#options;
    const connection = await this.#openConnection();
    const timeout = clock.timeout(requestTimeoutMs);
    try {
      const init: RequestInit & { dispatcher: Dispatcher } = {
        method: 'POST',
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
        dispatcher: connection.agent,
        signal: request.signal
          ? AbortSignal.any([timeout, request.signal])
          : timeout,
      };
      const response = await fetch(request.url, init);
      const { status, headers } = response;
      return { status, headers, body: await readText(response) };
    } catch (error) {
      // `AbortSignal.any` does not keep its sources alive; this reference to
      // `timeout` does.
      const message = timeout.aborted
        ? `no response within ${requestTimeoutMs} ms`
        : describe(error);
      throw new HttpExchangeError(message, {
        sent: connection.isOpen() ? 'perhaps' : 'no',
      });
    } finally {
      await connection.agent.destroy();
    }
  }

  /**
   * Creates an agent for one request, which records whether it connected: a
   * request without a connection was certainly not sent.
   */
  async #openConnection(): Promise<{ agent: Agent; isOpen(): boolean }> {
    const connect = buildConnector({
      ca: await this.#readCa(),
      timeout: this.#options.connectTimeoutMs,
    });
    let open = true;
    const agent = new Agent({
      pipelining: 0,
      // The signal of the request sets the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect(options, callback) {
        open = false;
        connect(options, (...[error, socket]) => {
          open = error === null;
          return error ? callback(error, null) : callback(null, socket!);
        });
      },
    });
    return { agent, isOpen: () => open };
  }

  async #readCa(): Promise<string | undefined> {
    const { caFile } = this.#options;
    if (caFile === undefined) {
      return undefined;
    }
    try {
      const text = await readFile(caFile, 'utf8');
      if (text.trim() === '') {
        // Without a CA, Node.js would trust its default CAs.
        throw new Error('the file is empty');
      }
      return text;
    } catch (error) {
      throw new HttpExchangeError(
        `directory.certificates.freeipa.caFile is not usable: ${
          toError(error).message
        }`,
        { sent: 'no' },
      );
    }
  }
}

async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const chunks = new Array<Uint8Array>();
  let size = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) {
      return Buffer.concat(chunks).toString('utf8');
    }
    chunks.push(chunk.value);
    size += chunk.value.byteLength;
    if (size > MAX_RESPONSE_BYTES) {
      throw new Error(
        `The response is larger than ${MAX_RESPONSE_BYTES} bytes`,
      );
    }
  }
}

/** Returns the cause's message for `fetch failed`. */
function describe(error: unknown): string {
  const { message, cause } = toError(error);
  return isError(cause) && cause.message !== '' ? cause.message : message;
}
