import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { Dialect } from '../api/Dialect';
import { loadSessionKeys, type SessionsConfig } from './SessionKeys';
import {
  MAX_AGE_SECONDS,
  openSession,
  sealSession,
  type Session,
  type TokenOptions,
} from './SessionTokens';

/** Maximum number of cached sessions: 300 bytes each. */
const CACHE_SIZE = 10_000;

/** Longer tokens are rejected: user agents store 4 KiB (RFC 6265 §6.1). */
const MAX_TOKEN_LENGTH = 4096;

/** Longer `Cookie` headers are not parsed: that would take milliseconds. */
const MAX_HEADER_LENGTH = 16 * 1024;

/** The session cookie of a dialect. */
interface SessionCookie {
  /** Root of the dialect. */
  readonly root: string;
  readonly name: string;
  readonly path: string;
  readonly secure: boolean;
}

/**
 * Session cookies for API clients, so that not every request needs a SPNEGO
 * token. Cookies authenticate read requests only, and the account is looked up
 * for every request. Browsers do not get cookies and cannot use them: a cookie
 * that an attacker sets in a browser has no effect.
 */
export class Sessions {
  readonly #tokens: TokenOptions;
  /** Longest root first. */
  readonly #cookies: readonly SessionCookie[];
  readonly #counter = metrics
    .getMeter('directory')
    .createCounter('directory.session.cookies', {
      description: 'Session cookies issued to and received from API clients',
    });
  /** By the hash of the token, which may be part of a much longer header. */
  readonly #opened = new LRUCache<string, Session>({ max: CACHE_SIZE });

  /**
   * Creates the sessions of the API; `undefined` when they are disabled. A
   * dialect that clients reach below the URL of the plugin shares its cookie.
   *
   * @throws InputError that names an unusable key of the configuration
   */
  static async create(options: {
    readonly config: { readonly sessions?: SessionsConfig };
    /** External URL of the plugin. Sessions of other URLs are rejected. */
    readonly baseUrl: string;
    readonly dialects: readonly Pick<Dialect, 'root' | 'uris'>[];
    readonly logger: LoggerService;
  }): Promise<Sessions | undefined> {
    const { baseUrl, config, dialects, logger } = options;
    if (!config.sessions) {
      return undefined;
    }
    if (!config.sessions.secrets) {
      logger.info(
        'Sessions use a random key that only this process has. Set directory.sessions.keys when several processes run.',
      );
    }
    const cookies = dialects
      .map(({ root, uris }) => ({ root, url: uris.root }))
      .filter(({ root, url }) => !root || url !== `${baseUrl}${root}`)
      .map(({ root, url }) => cookieOf(root, new URL(url)))
      .sort((one, other) => other.root.length - one.root.length);
    const keys = await loadSessionKeys(config.sessions);
    return new Sessions({ keys, audience: baseUrl }, cookies);
  }

  private constructor(tokens: TokenOptions, cookies: readonly SessionCookie[]) {
    this.#tokens = tokens;
    this.#cookies = cookies;
  }

  /** Returns the principal of the session cookie of a request, if any. */
  async principalOf(req: Request): Promise<string | undefined> {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    const session = isRead ? await this.#sessionOf(req) : undefined;
    return session?.principal;
  }

  /** Sends a session cookie to an API client without a valid one. */
  async offer(req: Request, res: Response, principal: string): Promise<void> {
    const session = await this.#sessionOf(req);
    if (!isApiClient(req) || session?.principal === principal) {
      return;
    }
    const { name, path, secure } = this.#cookieAt(req.path);
    const cookie = stringifySetCookie(
      {
        name,
        value: await sealSession(principal, this.#tokens),
        path,
        maxAge: MAX_AGE_SECONDS,
        httpOnly: true,
        secure,
        sameSite: 'strict',
      },
      { encode: unchanged },
    );
    res.appendHeader('Set-Cookie', cookie);
    this.#counter.add(1, { outcome: 'issued' });
  }

  #cookieAt(path: string): SessionCookie {
    return this.#cookies.find(({ root }) => `${path}/`.startsWith(`${root}/`))!;
  }

  async #sessionOf(req: Request): Promise<Session | undefined> {
    const { name } = this.#cookieAt(req.path);
    const token = isApiClient(req)
      ? readCookie(req.headers.cookie, name)
      : undefined;
    if (token === undefined) {
      return undefined;
    }
    const opened = await this.#open(token);
    const isSession = typeof opened === 'object';
    this.#counter.add(1, { outcome: isSession ? 'accepted' : opened });
    return isSession ? opened : undefined;
  }

  async #open(token: string): Promise<Session | 'expired' | 'rejected'> {
    if (token.length > MAX_TOKEN_LENGTH) {
      return 'rejected';
    }
    const digest = hash('sha256', token, 'base64');
    const cached = this.#opened.get(digest);
    if (cached && Date.now() < cached.expiresAt) {
      return cached;
    }
    this.#opened.delete(digest);
    const opened = await openSession(token, this.#tokens);
    if (typeof opened === 'object') {
      this.#opened.set(digest, opened);
    }
    return opened;
  }
}

/**
 * Clients accept a cookie with the prefix `__Secure-` only with `Secure` and
 * over https (draft-ietf-httpbis-rfc6265bis §4.1.3.1). The stronger `__Host-`
 * requires the path `/`.
 */
function cookieOf(root: string, { protocol, pathname }: URL): SessionCookie {
  const secure = protocol === 'https:';
  const name = `${secure ? '__Secure-' : ''}directory-session`;
  return { root, name, path: pathname.replace(/(.)\/$/, '$1'), secure };
}

/**
 * Returns the value in a `Cookie` header. A cookie that occurs twice is ignored:
 * one of them may come from another site (RFC 6265 §8.6).
 */
export function readCookie(
  header: string | undefined,
  name: string,
): string | undefined {
  if (!header || header.length > MAX_HEADER_LENGTH) {
    return undefined;
  }
  const isOnce = header.split(name, 3).length === 2;
  return isOnce ? parseCookie(header, { decode: unchanged })[name] : undefined;
}

/** Tokens need no encoding, and encoded values are not tokens. */
function unchanged(value: string): string {
  return value;
}

/**
 * Returns whether a request comes from an API client. Browsers send headers
 * that pages can neither set nor remove: Fetch Metadata or `Origin`.
 */
function isApiClient({ headers }: Request): boolean {
  return (
    headers.origin === undefined &&
    !Object.keys(headers).some(name => name.startsWith('sec-fetch-'))
  );
}
