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

/** An authority whose key is at hand. */
export class SigningAuthority implements AuthorityRecord {
  readonly id: string;
  readonly chain: readonly Buffer[];
  readonly issuer: Issuer;
  readonly publicKey: KeyObject;

  /**
   * @param options - `chain`: its certificate and those above it, DER
   * @throws UnusableKeyError when the key is not that of the certificate, or the
   *   certificate may not sign certificates and revocation lists.
   */
  static create(options: {
    readonly chain: readonly Buffer[];
    readonly privateKey: KeyObject;
  }): SigningAuthority {
    const { chain, privateKey } = options;
    try {
      requireChain(chain);
      const issuer = Issuer.create({ certificate: chain[0], privateKey });
      if (issuer.certificate.keyUsage?.includes('cRLSign') === false) {
        throw new TypeError(
          'The certificate of the authority must allow it to sign revocation lists',
        );
      }
      return new SigningAuthority({ chain, issuer, privateKey });
    } catch (error) {
      assertError(error);
      throw new UnusableKeyError(error.message);
    }
  }

  private constructor(options: {
    readonly chain: readonly Buffer[];
    readonly issuer: Issuer;
    readonly privateKey: KeyObject;
  }) {
    this.chain = options.chain;
    this.issuer = options.issuer;
    this.id = authorityIdOf(options.privateKey);
    this.publicKey = createPublicKey(options.privateKey);
  }
}

/** SHA-256 of the public key, a SubjectPublicKeyInfo; lower-case hex. */
export function authorityIdOf(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

/** Each certificate must be signed by the next. */
function requireChain(chain: readonly Buffer[]): void {
  if (chain.length === 0) {
    throw new TypeError('There is no certificate of the authority');
  }
  const certificates = chain.map(der => new X509Certificate(der));
  for (const [index, above] of certificates.slice(1).entries()) {
    const below = certificates[index];
    if (!below.checkIssued(above) || !below.verify(above.publicKey)) {
      throw new TypeError(
        `Certificate ${
          index + 1
        } of the authority's chain is not signed by the next one`,
      );
    }
  }
}

/**
 * Kerberos lets clocks differ by 5 minutes (RFC 4120 §1.6): whoever can ask for
 * a certificate has a clock that is good to that.
 */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/**
 * From when on something that is signed now is valid: a little earlier, so that
 * a client whose clock is late does not take it for one from the future.
 *
 * @param now - milliseconds since 1970
 */
export function backdated(now: number): Date {
  return new Date(now - CLOCK_SKEW_MS);
}
