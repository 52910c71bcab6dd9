import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '../api/Dialect';
import { SessionCookie } from './SessionCookie';
import { SecretKeys } from '../../secretKeys';
import { SESSION_KEYS, type SessionsConfig } from './SessionsConfig';
import { type Session, SessionTokens } from './SessionTokens';

/** Maximum number of cached sessions, and of cached tokens: 300 bytes each. */
const CACHE_SIZE = 10_000;

/** Share of a session's lifetime during which the same token is issued again. */
const REISSUE_SHARE = 1 / 15;

/** Longer tokens are rejected: user agents store 4 KiB (RFC 6265 §6.1). */
const MAX_TOKEN_LENGTH = 4096;

/** Values of the `outcome` attribute of `directory.session.cookies`. */
type SessionOutcome = 'issued' | 'accepted' | 'expired' | 'rejected';

interface IssuedToken {
  readonly token: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Session cookies for API clients, so that not every request needs a SPNEGO
 * token. Cookies authenticate read requests only, and the account is looked up
 * for every request. Browsers do not get cookies and cannot use them: a cookie
 * that an attacker sets in a browser has no effect.
 */
export class Sessions {
  readonly #tokens: SessionTokens;
  readonly #reissueMs: number;
  readonly #endpoints: readonly {
    readonly root: string;
    readonly cookie: SessionCookie;
  }[];
  readonly #cookies = metrics
    .getMeter('directory')
    .createCounter('directory.session.cookies', {
      description: 'Session cookies issued to and received from API clients',
    });
  /** By the hash of the token, which may be part of a much longer header. */
  readonly #opened = new LRUCache<string, Session>({ max: CACHE_SIZE });
  /** By principal. */
  readonly #issued = new LRUCache<string, IssuedToken>({ max: CACHE_SIZE });

  constructor(options: {
    readonly tokens: SessionTokens;
    readonly maxAgeMs: number;
    /** Roots of dialects with the URLs of their clients; longest root first. */
    readonly endpoints: readonly {
      readonly root: string;
      readonly url: string;
    }[];
  }) {
    this.#tokens = options.tokens;
    this.#reissueMs = options.maxAgeMs * REISSUE_SHARE;
    this.#endpoints = options.endpoints.map(({ root, url }) => ({
      root,
      cookie: new SessionCookie(url),
    }));
  }

  /** Returns the principal of the session cookie of a request, if any. */
  async principalOf(req: Request): Promise<string | undefined> {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return undefined;
    }
    const token = this.#cookieAt(req.path).read(req.headers.cookie);
    if (token === undefined || !isApiClient(req.headers)) {
      return undefined;
    }
    const session = await this.#open(token);
    return session?.principal;
  }

  /** Sends a session cookie to an API client without a valid one. */
  async offer(req: Request, res: Response, principal: string): Promise<void> {
    if (!isApiClient(req.headers)) {
      return;
    }
    const cookie = this.#cookieAt(req.path);
    const current = cookie.read(req.headers.cookie);
    if (current !== undefined) {
      const session = await this.#open(current);
      if (session?.principal === principal) {
        return;
      }
    }
    const { token, expiresAt } = await this.#issue(principal);
    const maxAgeSeconds = Math.floor((expiresAt - Date.now()) / 1000);
    if (maxAgeSeconds > 0) {
      res.appendHeader('Set-Cookie', cookie.write(token, { maxAgeSeconds }));
      this.#count('issued');
    }
  }

  #cookieAt(path: string): SessionCookie {
    const endpoint = this.#endpoints.find(({ root }) =>
      `${path}/`.startsWith(`${root}/`),
    );
    return endpoint!.cookie;
  }

  async #open(token: string): Promise<Session | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) {
      this.#count('rejected');
      return undefined;
    }
    const digest = hash('sha256', token, 'base64');
    const cached = this.#opened.get(digest);
    if (cached && Date.now() < cached.expiresAt) {
      this.#count('accepted');
      return cached;
    }
    this.#opened.delete(digest);
    const opened = await this.#tokens.open(token);
    if (opened.outcome !== 'accepted') {
      this.#count(opened.outcome);
      return undefined;
    }
    this.#opened.set(digest, opened.session);
    this.#count('accepted');
    return opened.session;
  }

  async #issue(principal: string): Promise<IssuedToken> {
    const now = Date.now();
    const cached = this.#issued.get(principal);
    // The second condition is false after the system clock was set back.
    if (
      cached &&
      now >= cached.issuedAt &&
      now < cached.issuedAt + this.#reissueMs
    ) {
      return cached;
    }
    const issued = { ...(await this.#tokens.seal(principal)), issuedAt: now };
    this.#issued.set(principal, issued);
    return issued;
  }

  #count(outcome: SessionOutcome): void {
    this.#cookies.add(1, { outcome });
  }
}

/**
 * Returns whether a request comes from an API client. Browsers send headers
 * that pages can neither set nor remove: Fetch Metadata or `Origin`.
 */
function isApiClient(headers: IncomingHttpHeaders): boolean {
  if (headers.origin !== undefined) {
    return false;
  }
  for (const name in headers) {
    if (name.startsWith('sec-fetch-')) {
      return false;
    }
  }
  return true;
}

/**
 * Creates the sessions of the API; `undefined` when they are disabled. A
 * dialect that clients reach below the URL of the plugin shares its cookie.
 *
 * @throws InputError that names an unusable key of the configuration.
 */
export async function createSessions(options: {
  readonly config: { readonly sessions?: SessionsConfig };
  /**
   * External URL of the plugin. Sessions issued for other URLs are rejected.
   */
  readonly baseUrl: string;
  readonly dialects: readonly Pick<Dialect, 'root' | 'uris'>[];
  readonly logger: LoggerService;
}): Promise<Sessions | undefined> {
  const { baseUrl, config, dialects, logger } = options;
  if (!config.sessions) {
    return undefined;
  }
  const { secrets, maxAgeMs } = config.sessions;
  if (!secrets) {
    logger.info(
      'Sessions use a random key that only this process has. Set directory.sessions.keys when several processes run.',
    );
  }
  const keys = secrets
    ? await SecretKeys.load(secrets, SESSION_KEYS)
    : SecretKeys.random(SESSION_KEYS);
  const tokens = new SessionTokens({ keys, audience: baseUrl, maxAgeMs });
  const endpoints = dialects
    .map(({ root, uris }) => ({ root, url: uris.root }))
    .filter(({ root, url }) => !root || url !== `${baseUrl}${root}`)
    .sort((one, other) => other.root.length - one.root.length);
  return new Sessions({ tokens, maxAgeMs, endpoints });
}
