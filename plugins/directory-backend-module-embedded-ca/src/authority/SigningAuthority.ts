import {
  type KeyObject,
  X509Certificate,
  createHash,
  createPublicKey,
} from 'node:crypto';
import { assertError } from '@backstage/errors';
import { Issuer } from '@directory-gateway/x509';
import type { AuthorityRecord } from './AuthorityStore';
import { UnusableKeyError } from './KeyFile';

/** A CA whose private key this instance has. */
export interface SigningAuthority extends AuthorityRecord {
  readonly issuer: Issuer;
  readonly publicKey: KeyObject;
}

/**
 * Creates a CA from its certificates and its key.
 *
 * @param options - `chain`: the CA's certificate and its issuers, DER
 * @throws UnusableKeyError when the key does not match the certificate, or the
 *   certificate must not sign certificates and CRLs.
 */
export function createSigningAuthority(options: {
  readonly chain: readonly Buffer[];
  readonly privateKey: KeyObject;
}): SigningAuthority {
  const { chain, privateKey } = options;
  try {
    requireChain(chain);
    const issuer = Issuer.create({ certificate: chain[0], privateKey });
    if (issuer.certificate.keyUsage?.includes('cRLSign') === false) {
      throw new TypeError(
        'The key usage of the CA certificate does not include cRLSign',
      );
    }
    return {
      id: authorityIdOf(privateKey),
      chain,
      issuer,
      publicKey: createPublicKey(privateKey),
    };
  } catch (error) {
    assertError(error);
    throw new UnusableKeyError(error.message);
  }
}

/** SHA-256 of the SubjectPublicKeyInfo of a key, lower-case hex. */
export function authorityIdOf(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

/** Each certificate must be signed by the next. */
function requireChain(chain: readonly Buffer[]): void {
  if (chain.length === 0) {
    throw new TypeError('The chain contains no certificate');
  }
  const certificates = chain.map(der => new X509Certificate(der));
  for (const [index, above] of certificates.slice(1).entries()) {
    const below = certificates[index];
    if (!below.checkIssued(above) || !below.verify(above.publicKey)) {
      throw new TypeError(
        `Certificate ${
          index + 1
        } of the CA's chain is not signed by the next one`,
      );
    }
  }
}

/** Clock skew that Kerberos tolerates (RFC 4120 §1.6), and so every caller. */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/**
 * Start of validity of what is signed now: 5 minutes earlier, for clients whose
 * clocks are late.
 *
 * @param now - milliseconds since 1970
 */
export function backdated(now: number): Date {
  return new Date(now - CLOCK_SKEW_MS);
}
