import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { SessionKeys } from './SessionKeys';

/** Lifetime of a session. */
export const MAX_AGE_SECONDS = 15 * 60;

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

/** Options of {@link sealSession} and {@link openSession}. */
export interface TokenOptions {
  readonly keys: SessionKeys;
  /** URL of the gateway. Tokens of other URLs are rejected. */
  readonly audience: string;
}

/**
 * Creates the token of a session cookie (JWE, RFC 7516) for a principal that has
 * just authenticated.
 */
export function sealSession(
  principal: string,
  { keys, audience }: TokenOptions,
): Promise<string> {
  const [[kid, key]] = keys;
  const issued = Math.floor(Date.now() / 1000);
  return new EncryptJWT()
    .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION, kid, typ: TYPE })
    .setSubject(principal)
    .setAudience(audience)
    .setIssuedAt(issued)
    .setExpirationTime(issued + MAX_AGE_SECONDS)
    .encrypt(key);
}

/** Decrypts a token from an untrusted source. */
export async function openSession(
  token: string,
  { keys, audience }: TokenOptions,
): Promise<Session | 'expired' | 'rejected'> {
  // Decoders ignore invalid characters and spare bits (RFC 4648 §3.5), so that
  // a token would have many accepted encodings.
  const isCanonical = token
    .split('.')
    .every(
      part => Buffer.from(part, 'base64url').toString('base64url') === part,
    );
  if (!isCanonical) {
    return 'rejected';
  }
  const keyOf = ({ kid = '' }) => {
    const key = keys.get(kid);
    if (!key) {
      throw new errors.JWEDecryptionFailed('no such key');
    }
    return key;
  };
  try {
    const { payload } = await jwtDecrypt(token, keyOf, {
      keyManagementAlgorithms: [ALGORITHM],
      contentEncryptionAlgorithms: [ENCRYPTION],
      typ: TYPE,
      audience,
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
    const { sub, iat, exp } = payload as Required<typeof payload>;
    // Version 0.2.0 may have issued a token with a longer lifetime.
    const expiresAt = Math.min(exp, iat + MAX_AGE_SECONDS) * 1000;
    return Date.now() < expiresAt ? { principal: sub, expiresAt } : 'expired';
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) {
      throw error;
    }
    return error instanceof errors.JWTExpired ? 'expired' : 'rejected';
  }
}
