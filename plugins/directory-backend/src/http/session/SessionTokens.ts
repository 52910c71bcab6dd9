import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { SessionKeys } from './SessionKeys';

/** Tells a session from any other token that might be made with these keys (RFC 8725 §3.11). */
const TYPE = 'directory-session+jwt';

const ALGORITHM = 'dir';

/**
 * Encrypted with AES-256-CBC and signed, over header and all, with
 * HMAC-SHA-512 (RFC 7518 §5.2.5). Who makes a token is who reads it, by the
 * same secret: a signature within the encryption would be by the same hand,
 * and protect from nobody else. AES-GCM, the other choice, breaks when a nonce
 * comes twice, and a key shared by processes for months has no one to count.
 */
const ENCRYPTION = 'A256CBC-HS512';

/** How far the clocks of two processes may be apart. Prolongs nothing. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Who a session is for, and until when. */
export interface Session {
  /** As the ticket named it: `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** In milliseconds since 1970. */
  readonly endsAt: number;
}

/** What a token turned out to be. */
export type OpenedToken =
  | { readonly outcome: 'good'; readonly session: Session }
  | { readonly outcome: 'ended' | 'refused' };

/** Makes and reads the tokens in session cookies: JWEs (RFC 7516, RFC 7519). */
export class SessionTokens {
  readonly #keys: SessionKeys;
  readonly #audience: string;
  readonly #maxAgeSeconds: number;

  constructor(options: {
    readonly keys: SessionKeys;
    /** The gateway's address: no token is good at another one. */
    readonly audience: string;
    readonly maxAgeMs: number;
  }) {
    this.#keys = options.keys;
    this.#audience = options.audience;
    this.#maxAgeSeconds = Math.floor(options.maxAgeMs / 1000);
  }

  /** A token for a principal who has shown a ticket now. */
  async seal(
    principal: string,
  ): Promise<{ readonly token: string; readonly endsAt: number }> {
    const { id, key } = this.#keys.current;
    const issued = Math.floor(Date.now() / 1000);
    const ends = issued + this.#maxAgeSeconds;
    const token = await new EncryptJWT()
      .setProtectedHeader({
        alg: ALGORITHM,
        enc: ENCRYPTION,
        kid: id,
        typ: TYPE,
      })
      .setSubject(principal)
      .setAudience(this.#audience)
      .setIssuedAt(issued)
      .setExpirationTime(ends)
      .encrypt(key);
    return { token, endsAt: ends * 1000 };
  }

  /** What a text is worth, whoever it comes from. */
  async open(token: string): Promise<OpenedToken> {
    if (!isCanonical(token)) {
      return { outcome: 'refused' };
    }
    try {
      const { payload } = await jwtDecrypt(token, ({ kid }) => this.#key(kid), {
        keyManagementAlgorithms: [ALGORITHM],
        contentEncryptionAlgorithms: [ENCRYPTION],
        typ: TYPE,
        audience: this.#audience,
        maxTokenAge: this.#maxAgeSeconds,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp'],
      });
      const { sub, iat, exp } = payload as Required<typeof payload>;
      // The longest age may have become less since it was sealed.
      const endsAt = Math.min(exp, iat + this.#maxAgeSeconds) * 1000;
      return Date.now() < endsAt
        ? { outcome: 'good', session: { principal: sub, endsAt } }
        : { outcome: 'ended' };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) {
        throw error;
      }
      return {
        outcome: error instanceof errors.JWTExpired ? 'ended' : 'refused',
      };
    }
  }

  #key(id: string | undefined) {
    const key = id === undefined ? undefined : this.#keys.find(id);
    if (!key) {
      throw new errors.JWEDecryptionFailed('no such key');
    }
    return key;
  }
}

/**
 * Whether a token is spelled in the one way in which it was sealed. Decoders
 * of base64url overlook strange characters and the last one's spare bits, so
 * that a token would be good in many spellings (RFC 4648 §3.5).
 */
function isCanonical(token: string): boolean {
  return token
    .split('.')
    .every(
      part => Buffer.from(part, 'base64url').toString('base64url') === part,
    );
}
