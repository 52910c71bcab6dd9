import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { SecretKeys } from '../../secretKeys';

/** Distinguishes sessions from other tokens of the same keys (RFC 8725 §3.11). */
const TYPE = 'directory-session+jwt';

const ALGORITHM = 'dir';

/**
 * AES-256-CBC and HMAC-SHA-512 over header and payload (RFC 7518 §5.2.5). A
 * signature inside the encryption would add nothing: the issuer is the only
 * recipient. AES-GCM would be broken by a repeated nonce, which processes that
 * share a key for months cannot rule out.
 */
const ENCRYPTION = 'A256CBC-HS512';

/** Allowed clock skew between processes. Does not extend sessions. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** The content of a session token. */
export interface Session {
  /** Kerberos principal, for example `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Result of decrypting a token. */
type OpenedToken =
  | { readonly outcome: 'accepted'; readonly session: Session }
  | { readonly outcome: 'expired' | 'rejected' };

/** Encrypts and decrypts the tokens in session cookies (JWE, RFC 7516). */
export class SessionTokens {
  readonly #keys: SecretKeys;
  readonly #audience: string;
  readonly #maxAgeSeconds: number;

  constructor(options: {
    readonly keys: SecretKeys;
    /** URL of the gateway. Tokens of other URLs are rejected. */
    readonly audience: string;
    readonly maxAgeMs: number;
  }) {
    this.#keys = options.keys;
    this.#audience = options.audience;
    this.#maxAgeSeconds = Math.floor(options.maxAgeMs / 1000);
  }

  /** Creates a token for a principal that has just authenticated. */
  async seal(
    principal: string,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const { id, key } = this.#keys.current;
    const issued = Math.floor(Date.now() / 1000);
    const expires = issued + this.#maxAgeSeconds;
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
      .setExpirationTime(expires)
      .encrypt(key);
    return { token, expiresAt: expires * 1000 };
  }

  /** Decrypts a token from an untrusted source. */
  async open(token: string): Promise<OpenedToken> {
    if (!isCanonical(token)) {
      return { outcome: 'rejected' };
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
      // The maximum age may have been reduced since the token was issued.
      const expiresAt = Math.min(exp, iat + this.#maxAgeSeconds) * 1000;
      return Date.now() < expiresAt
        ? { outcome: 'accepted', session: { principal: sub, expiresAt } }
        : { outcome: 'expired' };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) {
        throw error;
      }
      return {
        outcome: error instanceof errors.JWTExpired ? 'expired' : 'rejected',
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
 * Returns whether a token is encoded canonically. Base64url decoders ignore
 * invalid characters and the spare bits of the last one (RFC 4648 §3.5), so
 * that a token would have many accepted encodings.
 */
function isCanonical(token: string): boolean {
  return token
    .split('.')
    .every(
      part => Buffer.from(part, 'base64url').toString('base64url') === part,
    );
}
