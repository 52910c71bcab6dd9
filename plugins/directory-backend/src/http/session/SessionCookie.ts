import { parseCookie, stringifySetCookie } from 'cookie';

/**
 * Says to browsers, and to curl, that the cookie counts only when it was set
 * with `Secure` over https (draft-ietf-httpbis-rfc6265bis §4.1.3.1). The
 * stronger `__Host-` would need the whole portal as its path.
 */
const SECURE_PREFIX = '__Secure-';

const NAME = 'directory-session';

/** Longer `Cookie` headers are not taken apart: it would cost milliseconds. */
const LONGEST_HEADER = 16 * 1024;

/** The session cookie as it is at one address of the API. */
export class SessionCookie {
  readonly name: string;
  readonly #path: string;
  readonly #secure: boolean;

  /** @param url - the address: https, or http on the loopback interface. */
  constructor(url: string) {
    const { protocol, pathname } = new URL(url);
    this.#secure = protocol === 'https:';
    this.#path = pathname.replace(/(.)\/$/, '$1');
    this.name = this.#secure ? `${SECURE_PREFIX}${NAME}` : NAME;
  }

  /**
   * Its value in a `Cookie` header. Where the name stands twice there is none:
   * which one was planted from elsewhere (RFC 6265 §8.6) cannot be known.
   */
  read(header: string | undefined): string | undefined {
    if (!header || header.length > LONGEST_HEADER) {
      return undefined;
    }
    const at = header.indexOf(this.name);
    if (at < 0 || header.includes(this.name, at + 1)) {
      return undefined;
    }
    return parseCookie(header, { decode: asItIs })[this.name];
  }

  /** The `Set-Cookie` header that has it kept. */
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
      { encode: asItIs },
    );
  }
}

/** A token needs no encoding; what was encoded is none. */
function asItIs(value: string): string {
  return value;
}
