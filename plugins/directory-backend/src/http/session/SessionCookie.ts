import { parseCookie, stringifySetCookie } from 'cookie';

/**
 * Clients accept a cookie with this prefix only with `Secure` and over https
 * (draft-ietf-httpbis-rfc6265bis §4.1.3.1). The stronger `__Host-` requires the
 * path `/`.
 */
const SECURE_PREFIX = '__Secure-';

const NAME = 'directory-session';

/** Longer `Cookie` headers are not parsed: that would take milliseconds. */
const MAX_HEADER_LENGTH = 16 * 1024;

/** The session cookie of one URL of the API. */
export class SessionCookie {
  readonly name: string;
  readonly #path: string;
  readonly #secure: boolean;

  /** @param url - https, or http on the loopback interface */
  constructor(url: string) {
    const { protocol, pathname } = new URL(url);
    this.#secure = protocol === 'https:';
    this.#path = pathname.replace(/(.)\/$/, '$1');
    this.name = this.#secure ? `${SECURE_PREFIX}${NAME}` : NAME;
  }

  /**
   * Returns the value in a `Cookie` header. A cookie that occurs twice is
   * ignored: one of them may come from another site (RFC 6265 §8.6).
   */
  read(header: string | undefined): string | undefined {
    if (!header || header.length > MAX_HEADER_LENGTH) {
      return undefined;
    }
    const at = header.indexOf(this.name);
    if (at < 0 || header.includes(this.name, at + 1)) {
      return undefined;
    }
    return parseCookie(header, { decode: unchanged })[this.name];
  }

  /** Returns a `Set-Cookie` header. */
  write(value: string, options: { readonly maxAgeSeconds: number }): string {
    return stringifySetCookie(
      {
        name: this.name,
        value,
        path: this.#path,
        maxAge: options.maxAgeSeconds,
        httpOnly: true,
        secure: this.#secure,
        sameSite: 'strict',
      },
      { encode: unchanged },
    );
  }
}

/** Tokens need no encoding, and encoded values are not tokens. */
function unchanged(value: string): string {
  return value;
}
