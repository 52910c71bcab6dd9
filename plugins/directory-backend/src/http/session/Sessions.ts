import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { SessionCookie } from './SessionCookie';
import { type Session, SessionTokens } from './SessionTokens';
import { metrics } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { SessionKeys, type SessionsConfig } from './SessionKeys';

/** Counts session cookies. Whose is no attribute. */
export class SessionMetrics {
  readonly #cookies = metrics
    .getMeter('directory')
    .createCounter('directory.session.cookies', {
      description: 'Session cookies given to programs and sent by them',
    });

  /** Counts one. */
  count(outcome: SessionOutcome): void {
    this.#cookies.add(1, { outcome });
  }
}

/** Sessions and principals that are remembered, some 300 bytes each. */
const REMEMBERED = 10_000;

/** The share of its life for which one token is given to all who ask. */
const GIVEN_AGAIN = 1 / 15;

/** Longer texts are not even looked at: user agents keep 4 KiB (RFC 6265 §6.1). */
const LONGEST_TOKEN = 4096;

/** Where the API is, and what clients know that place as. */
export interface SessionPlace {
  /** Below the plugin: `''`, or `/fasjson`. */
  readonly root: string;
  readonly url: string;
}

/** A token that was made, and when. */
interface Sealed {
  readonly token: string;
  readonly sealedAt: number;
  readonly endsAt: number;
}

/**
 * Spares programs a ticket for each request: after one they may keep a cookie
 * for some minutes. It stands in for the ticket and for nothing else. Who it
 * names is looked up in the directory as ever; it reads and never writes; and
 * a browser neither gets it nor is believed it, so that a cookie planted in
 * one makes nobody of its user.
 */
export class Sessions {
  readonly #tokens: SessionTokens;
  readonly #giveAgainMs: number;
  readonly #places: readonly {
    readonly root: string;
    readonly cookie: SessionCookie;
  }[];
  readonly #metrics = new SessionMetrics();
  /** By the hash of the text, which may be part of a much longer header. */
  readonly #opened = new LRUCache<string, Session>({ max: REMEMBERED });
  readonly #sealed = new LRUCache<string, Sealed>({ max: REMEMBERED });

  constructor(options: {
    readonly tokens: SessionTokens;
    readonly maxAgeMs: number;
    /** The more particular first. */
    readonly places: readonly SessionPlace[];
  }) {
    this.#tokens = options.tokens;
    this.#giveAgainMs = options.maxAgeMs * GIVEN_AGAIN;
    this.#places = options.places.map(({ root, url }) => ({
      root,
      cookie: new SessionCookie(url),
    }));
  }

  /** Whose session a request carries; `undefined`: it is as if it had none. */
  async principalOf(req: Request): Promise<string | undefined> {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return undefined;
    }
    const token = this.#cookieAt(req.path).read(req.headers.cookie);
    if (token === undefined || !isProgram(req.headers)) {
      return undefined;
    }
    const session = await this.#open(token);
    return session?.principal;
  }

  /** Offers a session to who has shown a ticket now, and may call. */
  async offer(req: Request, res: Response, principal: string): Promise<void> {
    if (!isProgram(req.headers)) {
      return;
    }
    const cookie = this.#cookieAt(req.path);
    const kept = cookie.read(req.headers.cookie);
    if (kept !== undefined) {
      const session = await this.#open(kept);
      if (session?.principal === principal) {
        return;
      }
    }
    const { token, endsAt } = await this.#seal(principal);
    const maxAgeSeconds = Math.floor((endsAt - Date.now()) / 1000);
    if (maxAgeSeconds > 0) {
      res.appendHeader('Set-Cookie', cookie.write(token, { maxAgeSeconds }));
      this.#metrics.count('given');
    }
  }

  #cookieAt(path: string): SessionCookie {
    const place = this.#places.find(({ root }) =>
      `${path}/`.startsWith(`${root}/`),
    );
    return place!.cookie;
  }

  async #open(token: string): Promise<Session | undefined> {
    if (token.length > LONGEST_TOKEN) {
      this.#metrics.count('refused');
      return undefined;
    }
    const digest = hash('sha256', token, 'base64');
    const known = this.#opened.get(digest);
    if (known && Date.now() < known.endsAt) {
      this.#metrics.count('accepted');
      return known;
    }
    this.#opened.delete(digest);
    const opened = await this.#tokens.open(token);
    if (opened.outcome !== 'good') {
      this.#metrics.count(opened.outcome);
      return undefined;
    }
    this.#opened.set(digest, opened.session);
    this.#metrics.count('accepted');
    return opened.session;
  }

  async #seal(principal: string): Promise<Sealed> {
    const now = Date.now();
    const known = this.#sealed.get(principal);
    // A clock may have been set back.
    if (
      known &&
      now >= known.sealedAt &&
      now < known.sealedAt + this.#giveAgainMs
    ) {
      return known;
    }
    const sealed = { ...(await this.#tokens.seal(principal)), sealedAt: now };
    this.#sealed.set(principal, sealed);
    return sealed;
  }
}

/** What became of a session cookie; the values of the attribute `outcome`. */
export type SessionOutcome = 'given' | 'accepted' | 'ended' | 'refused';

/**
 * Whether a request is a program's. Browsers say what a request is for, in
 * headers that pages can neither set nor drop (W3C Fetch Metadata), or where
 * it comes from.
 */
export function isProgram(headers: IncomingHttpHeaders): boolean {
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
 * Sessions as they are configured.
 *
 * @throws InputError that names the secret that is no good.
 */
export async function openSessions(options: {
  readonly config: SessionsConfig;
  /** The plugin's address: no other portal's session is good here. */
  readonly audience: string;
  /** The more particular first. */
  readonly places: readonly SessionPlace[];
  readonly logger: LoggerService;
}): Promise<Sessions> {
  const { audience, places, logger } = options;
  const { secrets, maxAgeMs } = options.config;
  if (!secrets) {
    logger.info(
      "Sessions are sealed with a key of this process's own. Where there are several processes, set directory.sessions.keys, so that each knows the others' sessions.",
    );
  }
  const keys = secrets ? await SessionKeys.load(secrets) : SessionKeys.random();
  const tokens = new SessionTokens({ keys, audience, maxAgeMs });
  return new Sessions({ tokens, maxAgeMs, places });
}
