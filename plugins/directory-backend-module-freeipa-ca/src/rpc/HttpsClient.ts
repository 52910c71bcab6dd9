import { readFile } from 'node:fs/promises';
import { CustomErrorBase, isError, toError } from '@backstage/errors';
import { Agent, type Dispatcher, buildConnector } from 'undici';
import { type Clock, systemClock } from '../Clock';

/** There is no whole answer to a request. */
export class HttpExchangeError extends CustomErrorBase {
  name = 'HttpExchangeError' as const;

  /**
   * `no`: there was no connection to send it on. `perhaps`: the other side may
   * have got it and acted on it.
   */
  readonly sent: 'no' | 'perhaps';

  constructor(message: string, options: Pick<HttpExchangeError, 'sent'>) {
    super(message);
    this.sent = options.sent;
  }
}

/**
 * An answer is a certificate and its chain, or a search's worth of them; more
 * than this is none of FreeIPA's.
 */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** One request: always a POST. */
export interface HttpsRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the request before `requestTimeout` is over. */
  readonly signal?: AbortSignal;
}

/** A whole answer, whatever its status. */
export interface HttpsResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Sends requests to FreeIPA over HTTPS and follows no redirect.
 *
 * Each request has a connection of its own. Requests are rare and signing is
 * slow, so that a handshake does not count; but on a kept connection, which the
 * other end may close at any time, one could not say whether a request had
 * arrived. It also lets a new `caFile` work at once.
 */
export class HttpsClient {
  readonly #caFile: string | undefined;
  readonly #connectTimeoutMs: number;
  readonly #requestTimeoutMs: number;
  readonly #clock: Clock;

  constructor(options: {
    /** PEM file of the authorities to trust. Default: the system's. */
    readonly caFile?: string;
    readonly connectTimeoutMs: number;
    readonly requestTimeoutMs: number;
    /** Default: the system's. */
    readonly clock?: Clock;
  }) {
    this.#caFile = options.caFile;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#clock = options.clock ?? systemClock;
  }

  /** @throws HttpExchangeError when there is no whole answer. */
  async post(request: HttpsRequest): Promise<HttpsResponse> {
    const connection = await this.#openConnection();
    const timeout = this.#clock.timeout(this.#requestTimeoutMs);
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
        ? `no response within ${this.#requestTimeoutMs} ms`
        : describe(error);
      throw new HttpExchangeError(message, {
        sent: connection.isOpen() ? 'perhaps' : 'no',
      });
    } finally {
      await connection.agent.destroy();
    }
  }

  /**
   * An agent for one request, which also knows whether it could connect: a
   * request that had no connection was certainly not sent.
   */
  async #openConnection(): Promise<{ agent: Agent; isOpen(): boolean }> {
    const connect = buildConnector({
      ca: await this.#readCa(),
      timeout: this.#connectTimeoutMs,
    });
    let open = true;
    const agent = new Agent({
      pipelining: 0,
      headersTimeout: 0, // the request's own deadline is shorter, or meant
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
    if (this.#caFile === undefined) {
      return undefined;
    }
    try {
      const text = await readFile(this.#caFile, 'utf8');
      if (text.trim() === '') {
        // Without a CA, the system's would be trusted.
        throw new Error('the file is empty');
      }
      return text;
    } catch (error) {
      throw new HttpExchangeError(
        `directory.certificates.freeipa.caFile cannot be read: ${error}`,
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
    if (size > MAX_ANSWER_BYTES) {
      throw new Error(`The answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    }
  }
}

/** `fetch failed` says nothing: what failed is in the cause. */
function describe(error: unknown): string {
  const { message, cause } = toError(error);
  return isError(cause) && cause.message !== '' ? cause.message : message;
}
