import { assertError } from '@backstage/errors';
import { NoResultError } from './errors';
import {
  HttpExchangeError,
  type HttpsClient,
  type HttpsRequest,
  type HttpsResponse,
} from './HttpsClient';
import { readResult } from './readResponse';
import { type RpcCommand, type RpcRecord, formatCall } from './RpcCommand';

/** A method of logging in to FreeIPA. */
export interface Login {
  /**
   * Logs in to a server.
   *
   * @returns the session, as a value of the `Cookie` header
   * @throws NoResultError with `executed: 'no'` when the login fails.
   */
  logIn(server: FreeIpaServer): Promise<string>;
}

/** A request below `/ipa/session/`. */
interface IpaRequest extends Pick<HttpsRequest, 'headers' | 'body' | 'signal'> {
  /** For example `json`. */
  readonly path: string;
}

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

  /** Host name, without a port. */
  get host(): string {
    return new URL(this.origin).hostname;
  }

  /**
   * Runs a command. Retries it once, and only when the server reports that the
   * session expired before the command ran.
   *
   * @param signal - aborts the call, but not a login, which other calls share
   * @returns the result of the command
   * @throws RpcError when FreeIPA returns an error.
   * @throws NoResultError when there is no valid response.
   */
  async call(command: RpcCommand, signal?: AbortSignal): Promise<RpcRecord> {
    const session = this.#openSession();
    try {
      return await this.#callIn(await session, command, signal);
    } catch (error) {
      assertError(error);
      if (error.name !== 'SessionExpiredError') {
        throw error;
      }
    }
    this.#closeSession(session);
    const renewed = await this.#openSession();
    try {
      return await this.#callIn(renewed, command, signal);
    } catch (error) {
      assertError(error);
      throw error.name === 'SessionExpiredError'
        ? this.#noResult('the server does not accept its own session', {
            executed: 'no',
            fault: 'protocol',
          })
        : error;
    }
  }

  /**
   * Sends a login request below `/ipa/session/`.
   *
   * @throws NoResultError when there is no complete response.
   */
  async postLogin(request: IpaRequest): Promise<HttpsResponse> {
    try {
      return await this.#post(request);
    } catch (error) {
      assertError(error);
      throw this.#noResult(error.message, {
        executed: 'no',
        fault: 'unavailable',
      });
    }
  }

  /** Returns the session, or logs in if there is none. */
  #openSession(): Promise<string> {
    if (!this.#session) {
      const session = this.#login.logIn(this);
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

  async #callIn(
    session: string,
    command: RpcCommand,
    signal?: AbortSignal,
  ): Promise<RpcRecord> {
    try {
      const response = await this.#post({
        path: 'json',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json',
          Cookie: session,
        },
        body: formatCall(command),
        signal,
      });
      return readResult({ server: this.origin, response });
    } catch (error) {
      throw error instanceof HttpExchangeError
        ? this.#noResult(error.message, {
            executed: error.sent,
            fault: 'unavailable',
          })
        : error;
    }
  }

  /**
   * FreeIPA requires a `Referer` that starts with `https://<server name>/ipa`,
   * without a port (`ipaserver/rpcserver.py`: `wsgi_execute`, and
   * `check_referer` for logins). `Accept-Language` is `en`, because error
   * messages are translated and this module parses English ones.
   */
  async #post(request: IpaRequest): Promise<HttpsResponse> {
    return await this.#https.post({
      url: `${this.origin}/ipa/session/${request.path}`,
      headers: {
        Referer: `https://${this.host}/ipa`,
        'Accept-Language': 'en',
        ...request.headers,
      },
      body: request.body,
      signal: request.signal,
    });
  }

  #noResult(
    message: string,
    options: Pick<NoResultError, 'executed' | 'fault'>,
  ): NoResultError {
    return new NoResultError(message, { ...options, server: this.origin });
  }
}
