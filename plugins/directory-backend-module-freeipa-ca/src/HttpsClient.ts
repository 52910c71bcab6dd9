import { toError } from '@backstage/errors';
import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher } from 'undici';
import { type Clock, systemClock } from './Clock';
import { FreeIpaError } from './errors';
import type { FreeIpaConfig } from './FreeIpaConfig';

/** Larger than any response from FreeIPA with certificates and their chains. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** A POST request. */
export interface HttpsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the request before `requestTimeoutMs`. */
  readonly signal?: AbortSignal;
}

/** A complete response with any status. */
export interface HttpsResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Options of {@link HttpsClient}. */
export interface HttpsClientOptions extends Pick<
  FreeIpaConfig,
  'caFile' | 'requestTimeoutMs'
> {
  /** Maximum time to connect, with the TLS handshake. Default: 5 seconds. */
  readonly connectTimeoutMs?: number;
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

  /**
   * @throws FreeIpaError when the response is not complete. `executed` is
   *   `no` when there was no connection for the request.
   */
  async post(url: string, request: HttpsRequest): Promise<HttpsResponse> {
    const { caFile, connectTimeoutMs, requestTimeoutMs, clock } = this.#options;
    const { origin: server } = new URL(url);
    const agent = new Agent({
      connect: {
        ca: await readCa(caFile, server),
        timeout: connectTimeoutMs ?? 5000,
      },
      maxResponseSize: MAX_RESPONSE_BYTES,
      pipelining: 0,
      // The signal of the request sets the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    let isConnected = false;
    agent.once('connect', () => {
      isConnected = true;
    });
    const timeout = (clock ?? systemClock).timeout(requestTimeoutMs);
    const init: RequestInit & { dispatcher: Dispatcher } = {
      ...request,
      method: 'POST',
      redirect: 'manual',
      dispatcher: agent,
      signal: AbortSignal.any([timeout, request.signal ?? timeout]),
    };
    try {
      const response = await fetch(url, init);
      const { status, headers } = response;
      return { status, headers, body: await response.text() };
    } catch (error) {
      // `AbortSignal.any` does not keep its sources alive; this reference to
      // `timeout` does.
      const text = timeout.aborted
        ? `no response within ${requestTimeoutMs} ms`
        : 'the request failed';
      throw new FreeIpaError(text, {
        server,
        fault: isConnected ? 'unavailable' : 'unreachable',
        executed: isConnected ? 'pending' : 'no',
        // That of `fetch failed` explains it.
        cause: timeout.aborted ? undefined : (toError(error).cause ?? error),
      });
    } finally {
      await agent.destroy();
    }
  }
}

/** An empty file is refused: Node.js would trust its default CAs. */
async function readCa(caFile: string, server: string): Promise<string> {
  const text = await readFile(caFile, 'utf8').catch(() => '');
  if (text.trim() === '') {
    throw new FreeIpaError(
      `${caFile} (directory.certificates.freeipa.caFile) cannot be read or is empty`,
      { server, fault: 'unavailable' },
    );
  }
  return text;
}
