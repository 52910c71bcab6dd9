import { FreeIpaError, createCommandError } from './errors';
import type { HttpsClient, HttpsRequest, HttpsResponse } from './HttpsClient';
import type { Login } from './login';
import {
  type RpcCommand,
  type RpcRecord,
  formatCall,
  type RpcValue,
  isRpcRecord,
} from './rpc';

/** A FreeIPA server and the gateway's session, which all calls share. */
export class FreeIpaServer {
  /** For example `https://ipa1.example.org`. */
  readonly origin: string;
  readonly #https: HttpsClient;
  readonly #login: Login;
  #session: Promise<string> | undefined;

  constructor(options: {
    readonly origin: string;
    readonly https: HttpsClient;
    readonly login: Login;
  }) {
    this.origin = options.origin;
    this.#https = options.https;
    this.#login = options.login;
  }

  /**
   * Runs a command. Retries it once, and only when the server reports that the
   * session expired before the command ran.
   *
   * @param signal - aborts the call, but not a login, which other calls share
   * @returns the result of the command
   * @throws FreeIpaError
   */
  async call(
    command: RpcCommand,
    signal: AbortSignal | undefined,
    isRetry = false,
  ): Promise<RpcRecord> {
    const session = this.#openSession();
    const response = await this.#post('json', {
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        Cookie: await session,
      },
      body: formatCall(command),
      signal,
    });
    try {
      return readResult(this.origin, response);
    } catch (error) {
      if (!(error instanceof FreeIpaError) || error.fault !== 'session') {
        throw error;
      }
      this.#closeSession(session);
      if (isRetry) {
        throw error;
      }
      return await this.call(command, signal, true);
    }
  }

  /** Returns the session, or logs in if there is none. */
  #openSession(): Promise<string> {
    if (!this.#session) {
      const session = this.#login(this.origin, (path, request) =>
        this.#post(path, request),
      );
      this.#session = session;
      session.catch(() => this.#closeSession(session));
    }
    return this.#session;
  }

  /** Does nothing when another call has logged in since. */
  #closeSession(session: Promise<string>): void {
    if (this.#session === session) {
      this.#session = undefined;
    }
  }

  /**
   * Sends a request to a path below `/ipa/session/`.
   *
   * FreeIPA requires a `Referer` that starts with `https://<server name>/ipa`,
   * without a port (`ipaserver/rpcserver.py`: `wsgi_execute`, and
   * `check_referer` for logins). `Accept-Language` is `en`, because error
   * messages are translated and this module parses English ones.
   */
  async #post(path: string, request: HttpsRequest): Promise<HttpsResponse> {
    const headers = {
      Referer: `https://${new URL(this.origin).hostname}/ipa`,
      'Accept-Language': 'en',
      ...request.headers,
    };
    const url = `${this.origin}/ipa/session/${path}`;
    return await this.#https.post(url, { ...request, headers });
  }
}

/**
 * Reads the response to a call (`ipaserver/rpcserver.py`,
 * `jsonserver_session`). Command errors have status 200, an expired session is
 * an empty 401, a wrong `Referer` an HTML 400, and an unavailable directory a
 * 503; except in the first case, the command did not run.
 *
 * @throws FreeIpaError
 */
function readResult(server: string, response: HttpsResponse): RpcRecord {
  const { status, headers, body } = response;
  const fail = (
    fault: FreeIpaError['fault'],
    text: string,
    executed?: 'pending',
  ) => new FreeIpaError(text, { server, fault, executed });
  const lostSession = 'the server does not accept its own session';
  if (status === 401) {
    const reason = headers.get('x-ipa-rejection-reason');
    throw reason === null
      ? fail('session', lostSession)
      : fail('credentials', `FreeIPA rejects the gateway's account: ${reason}`);
  }
  if (status !== 200) {
    const hint =
      status === 400 ? ' (the configured host name may be an alias)' : '';
    throw fail(
      status < 500 ? 'protocol' : 'unavailable',
      `unexpected status ${status}${hint}`,
      // A proxy may have timed out while the command was running.
      status < 500 || status === 503 ? undefined : 'pending',
    );
  }
  const { error, result } = parseBody(body) ?? {};
  if (isRpcRecord(error) && typeof error.code === 'number') {
    const { code, message } = error;
    const text = typeof message === 'string' ? message : '';
    // Errors of authentication and of the session.
    throw code >= 1000 && code < 2000
      ? fail('session', `${lostSession} (${code})`)
      : createCommandError({ server, code, text });
  }
  if (error !== null || !isRpcRecord(result)) {
    throw fail(
      'protocol',
      'the response is not a result of FreeIPA',
      'pending',
    );
  }
  return result;
}

function parseBody(body: string): RpcRecord | undefined {
  try {
    const value: RpcValue = JSON.parse(body);
    return isRpcRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
