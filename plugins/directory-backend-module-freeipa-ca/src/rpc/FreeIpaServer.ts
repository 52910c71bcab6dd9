import { assertError } from '@backstage/errors';
import {
  HttpExchangeError,
  type HttpsResponse,
  type HttpsClient,
  type HttpsRequest,
} from './HttpsClient';
import { NoResultError } from './errors';
import { readResult } from './readResponse';
import { type RpcCommand, type RpcRecord, formatCall } from './RpcCommand';

/** The session of all calls to one server: whoever comes first logs in. */
export class SharedSession {
  readonly #logIn: () => Promise<string>;
  #session: Promise<string> | undefined;

  constructor(logIn: () => Promise<string>) {
    this.#logIn = logIn;
  }

  /** The session; a new one when there is none. Failures are not kept. */
  async get(): Promise<string> {
    if (!this.#session) {
      const session = this.#logIn();
      this.#session = session;
      session.catch(() => this.#forget(session));
    }
    return await this.#session;
  }

  /** A session other than the given one, of which a call has learned the end. */
  async renew(expired: string): Promise<string> {
    const known = this.#session;
    if (known && (await known.catch(() => undefined)) === expired) {
      this.#forget(known);
    }
    return await this.get();
  }

  /** Unless somebody else has logged in by now. */
  #forget(session: Promise<string>): void {
    if (this.#session === session) {
      this.#session = undefined;
    }
  }
}

/** A request below `/ipa/session/`. */
interface IpaRequest extends Pick<HttpsRequest, 'headers' | 'body' | 'signal'> {
  /** For example `json`. */
  readonly path: string;
}

/** One FreeIPA server, and the gateway's session there. */
export class FreeIpaServer {
  /** For example `https://ipa1.example.org`. */
  readonly origin: string;
  readonly #https: HttpsClient;
  readonly #session: SharedSession;

  constructor(options: {
    readonly origin: string;
    readonly https: HttpsClient;
    readonly login: Login;
  }) {
    this.origin = options.origin;
    this.#https = options.https;
    this.#session = new SharedSession(() => options.login.logIn(this));
  }

  /** Name of the host, without a port. */
  get host(): string {
    return new URL(this.origin).hostname;
  }

  /**
   * Runs a command, once: again only when the server says that it has not,
   * because the session has expired.
   *
   * @param signal - aborts the call, but not a login, which other calls share.
   * @returns the command's result.
   * @throws RpcError when FreeIPA returns an error.
   * @throws NoResultError when there is no usable response.
   */
  async call(command: RpcCommand, signal?: AbortSignal): Promise<RpcRecord> {
    const session = await this.#session.get();
    try {
      return await this.#callIn(session, command, signal);
    } catch (error) {
      assertError(error);
      if (error.name !== 'SessionExpiredError') {
        throw error;
      }
    }
    const renewed = await this.#session.renew(session);
    try {
      return await this.#callIn(renewed, command, signal);
    } catch (error) {
      assertError(error);
      throw error.name === 'SessionExpiredError'
        ? this.#noVerdict('it does not accept the session that it has given', {
            executed: 'no',
            fault: 'protocol',
          })
        : error;
    }
  }

  /**
   * Sends a request to log in, below `/ipa/session/`.
   *
   * @throws NoResultError when there is no whole answer.
   */
  async postLogin(request: IpaRequest): Promise<HttpsResponse> {
    try {
      return await this.#post(request);
    } catch (error) {
      assertError(error);
      throw this.#noVerdict(error.message, {
        executed: 'no',
        fault: 'unavailable',
      });
    }
  }

  async #callIn(
    session: string,
    command: RpcCommand,
    signal?: AbortSignal,
  ): Promise<RpcRecord> {
    try {
      const answer = await this.#post({
        path: 'json',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json',
          Cookie: session,
        },
        body: formatCall(command),
        signal,
      });
      return readResult({ server: this.origin, answer });
    } catch (error) {
      throw error instanceof HttpExchangeError
        ? this.#noVerdict(error.message, {
            executed: error.sent,
            fault: 'unavailable',
          })
        : error;
    }
  }

  /**
   * The `Referer` is strict since FreeIPA 4.12: the server's own name, and in
   * all versions without a port (`ipaserver/rpcserver.py`, `check_referer`,
   * `wsgi_execute`). Error texts are translated; this module reads the English.
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

  #noVerdict(
    message: string,
    options: Pick<NoResultError, 'executed' | 'fault'>,
  ): NoResultError {
    return new NoResultError(message, { ...options, server: this.origin });
  }
}

/** A way to log in to FreeIPA. */
export interface Login {
  /**
   * Logs in at a server.
   *
   * @returns the session, as a value for the `Cookie` header.
   * @throws NoResultError with `executed: 'no'`, whatever the reason.
   */
  logIn(server: FreeIpaServer): Promise<string>;
}
