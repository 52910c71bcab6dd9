import { randomBytes } from 'node:crypto';
import {
  CA_ACLS,
  caaclFind,
  caShow,
  certFind,
  certprofileShow,
  certRemoveHold,
  certRequest,
  certRevoke,
  certShow,
  FakeError,
  type FakeCall,
  type FakeServer,
  GATEWAY_PERMISSIONS,
  userShow,
} from './certificateCommands';
import type { FakeVersion } from './describeCertificate';
import type { Fault, FakeResponse } from './Fault';
import type { FakeCa } from './FakeCa';

/**
 * Verifies a SPNEGO token in an `Authorization` header. Resolves to `undefined`
 * if the token is rejected.
 */
export type AcceptToken = (
  authorization: string | null,
) => Promise<{ principal: string; replyToken?: string } | undefined>;

const COMMANDS = {
  ca_show: caShow,
  cert_request: certRequest,
  cert_show: certShow,
  cert_revoke: certRevoke,
  cert_remove_hold: certRemoveHold,
  cert_find: certFind,
  certprofile_show: certprofileShow,
  user_show: userShow,
  service_show: userShow,
  caacl_find: caaclFind,
};

const PASSWORD = 'correct horse & battery+staple';

/**
 * Fake of FreeIPA's RPC server for certificates, with its transport, login,
 * results and errors (`ipaserver/rpcserver.py`).
 */
export class FakeFreeIpa {
  readonly host: string;
  readonly ca: FakeCa;
  /** Received commands in order, `login` included. */
  readonly log = new Array<string>();
  /** Last request. */
  lastRequest: Request | undefined;
  /** Body of the last call. */
  lastCall: unknown;
  password = PASSWORD;
  /** Whether Dogtag is stopped. */
  isDogtagDown = false;
  /** Names of the permissions of the gateway's account. */
  permissions: readonly string[] = GATEWAY_PERMISSIONS;
  rules: FakeServer['rules'] = CA_ACLS;
  /** Called when a response is never sent. */
  onHang: () => void = () => {};
  /** FreeIPA's reason when the account must not log in. */
  rejection: string | undefined;
  readonly #version: FakeVersion;
  readonly #accept: AcceptToken;
  readonly #sessions = new Set<string>();
  #load: () => Promise<void> = async () => {};
  #loading: Promise<void> | undefined;
  readonly #faults = new Map<string, Fault[]>();

  constructor(options: {
    readonly host: string;
    readonly ca: FakeCa;
    readonly version?: FakeVersion;
    readonly accept?: AcceptToken;
  }) {
    this.host = options.host;
    this.ca = options.ca;
    this.#version = options.version ?? '4.12';
    this.#accept = options.accept ?? (async () => undefined);
  }

  /** Returns the number of received commands of a type. */
  count(command: string): number {
    return this.log.filter(entry => entry === command).length;
  }

  /** Makes the next request with a type (`login`, or a command) fail. */
  failNext(command: string, ...faults: Fault[]): void {
    this.#faults.set(command, [
      ...(this.#faults.get(command) ?? []),
      ...faults,
    ]);
  }

  /** Expires all sessions. */
  expireSessions(): void {
    this.#sessions.clear();
  }

  /**
   * Restarts Apache: the next request loads FreeIPA, and others wait until it
   * is loaded. Sessions are kept.
   *
   * @param load - loads FreeIPA, which takes 9.5 s on a real server.
   */
  restart(load: () => Promise<void>): void {
    this.#load = load;
    this.#loading = undefined;
  }

  async handle(request: Request): Promise<FakeResponse> {
    this.#loading ??= this.#load();
    await this.#loading;
    this.lastRequest = request;
    const { pathname } = new URL(request.url);
    if (!this.#isRefererGood(request.headers.get('referer'))) {
      return whole(page(400, 'Bad Request', 'denied'));
    }
    switch (pathname) {
      case '/ipa/session/login_password':
        return await this.#run('login', () => this.#logInWithPassword(request));
      case '/ipa/session/login_kerberos':
        return await this.#run('login', () => this.#logInWithTicket(request));
      case '/ipa/session/json':
        return await this.#call(request);
      default:
        return whole(page(404, 'Not Found', pathname));
    }
  }

  /**
   * Implements `check_referer`, and the older check of the prefix without a
   * port.
   */
  #isRefererGood(referer: string | null): boolean {
    return (
      referer === `https://${this.host}/ipa` ||
      referer?.startsWith(`https://${this.host}/ipa/`) === true
    );
  }

  async #logInWithPassword(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const reason =
      this.rejection ??
      (form.get('password') === this.password ? undefined : 'invalid-password');
    return reason === undefined ? this.#startSession() : rejected(reason);
  }

  async #logInWithTicket(request: Request): Promise<Response> {
    const caller = await this.#accept(request.headers.get('authorization'));
    if (!caller) {
      const headers = { 'WWW-Authenticate': 'Negotiate' };
      return new Response(null, { status: 401, headers });
    }
    return this.#startSession(caller.replyToken);
  }

  #startSession(replyToken?: string): Response {
    const session = randomBytes(24).toString('base64url');
    this.#sessions.add(session);
    const headers = new Headers({
      'Set-Cookie': `ipa_session=MagBearerToken=${session}; path=/ipa; httponly; secure; SameSite=strict`,
    });
    if (replyToken !== undefined) {
      headers.set('WWW-Authenticate', `Negotiate ${replyToken}`);
    }
    return new Response('', { status: 200, headers });
  }

  async #call(request: Request): Promise<FakeResponse> {
    const cookie = request.headers.get('cookie') ?? '';
    const [, session] = /^ipa_session=MagBearerToken=(.*)$/.exec(cookie) ?? [];
    if (!this.#sessions.has(session)) {
      this.log.push('expired');
      return whole(new Response('', { status: 401 }));
    }
    if (this.rejection !== undefined) {
      return whole(rejected(this.rejection));
    }
    const call = await request.json();
    this.lastCall = call;
    return await this.#run(call.method, change => this.#execute(call, change));
  }

  /** Command errors come with status 200. */
  async #execute(
    call: {
      readonly method: keyof typeof COMMANDS;
      readonly params: readonly [FakeCall['args'], FakeCall['options']];
    },
    change: Record<string, unknown> = {},
  ): Promise<Response> {
    const [args, options] = call.params;
    const server = {
      ca: this.ca,
      version: this.#version,
      isDogtagDown: this.isDogtagDown,
      permissions: this.permissions,
      rules: this.rules,
    };
    try {
      const command = COMMANDS[call.method];
      const reply = await command({ args, options }, server);
      const { result } = reply;
      const changed = Array.isArray(result)
        ? result
        : { ...(result as object), ...change };
      return envelope({ result: { ...reply, result: changed }, error: null });
    } catch (error) {
      if (!(error instanceof FakeError)) {
        throw error;
      }
      return failure(error.code, error.message);
    }
  }

  async #run(
    command: string,
    work: (change?: Record<string, unknown>) => Promise<Response>,
  ): Promise<FakeResponse> {
    this.log.push(command);
    const fault = this.#faults.get(command)?.shift();
    if (!fault) {
      return whole(await work());
    }
    switch (fault.kind) {
      case 'change':
        return whole(await work(fault.change));
      case 'status':
        await (fault.executed && work());
        return whole(
          new Response(fault.body ?? '', {
            status: fault.status,
            headers: fault.headers,
          }),
        );
      case 'error':
        await (fault.executed && work());
        return whole(failure(fault.code, fault.message));
      default:
        return await this.#interrupt(fault, work);
    }
  }

  async #interrupt(
    fault: Fault & { kind: 'cut' | 'hang' | 'half' },
    work: () => Promise<Response>,
  ): Promise<FakeResponse> {
    const { kind, executed, at } = fault;
    at?.then(() => (executed ? work() : undefined));
    const response =
      executed && !at ? await work() : new Response('{"result": {');
    if (kind === 'hang') {
      this.onHang();
    }
    return kind === 'half' ? { kind, response } : { kind };
  }
}

function whole(response: Response): FakeResponse {
  return { kind: 'whole', response };
}

function failure(code: number, message: string): Response {
  const error = { code, name: 'PublicError', message, data: {} };
  return envelope({ result: null, error });
}

function envelope(content: { result: unknown; error: unknown }): Response {
  const principal = 'portal@EXAMPLE.TEST';
  return new Response(
    JSON.stringify({ ...content, id: 0, principal, version: '4.12.2' }),
    { headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  );
}

function rejected(reason: string): Response {
  const response = page(401, 'Unauthorized', '');
  response.headers.set('X-IPA-Rejection-Reason', reason);
  return response;
}

function page(status: number, title: string, message: string): Response {
  return new Response(
    `<html>\n<head>\n<title>${status} ${title}</title>\n</head>\n<body>\n<h1>${title}</h1>\n<p>\n<strong>${message}</strong>\n</p>\n</body>\n</html>`,
    { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } },
  );
}
