import { X509Certificate, createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { InputError, assertError } from '@backstage/errors';
import {
  Issuer,
  type SigningKey,
  readCertifiedSubject,
  readPemBlocks,
} from '@directory-gateway/x509';
import type { IssuerId } from './CertificateSigner';

/** Number of hex digits of an issuer's id in the URLs of its documents. */
const NAME_LENGTH = 16;

/**
 * A CA with its key and its certificates.
 *
 * @public
 */
export class CaIssuer {
  /** Identifies the CA by its key. */
  readonly id: IssuerId;
  /**
   * The CA certificate and the certificates of its issuers, in this order
   * (DER).
   */
  readonly chain: readonly Buffer[];
  /** Signs with the CA's key. */
  readonly issuer: Issuer;

  /**
   * Creates a CA from its certificates and its key, which need not be available
   * yet.
   *
   * @param options - `chain`: the CA certificate and the certificates of its
   *   issuers, in this order (DER)
   * @throws TypeError when a certificate is not signed by the next one, the key
   *   does not belong to the first one, or the first one is not allowed to sign
   *   certificates and CRLs.
   */
  static create(options: {
    readonly chain: readonly Buffer[];
    readonly key: SigningKey;
  }): CaIssuer {
    return new CaIssuer(options);
  }

  /**
   * Reads the certificates of a CA from a file.
   *
   * @param options - `chainFile`: path of the CA certificate and the
   *   certificates of its issuers, PEM; `keyOf`: returns the CA's key by its
   *   SubjectPublicKeyInfo, DER
   * @throws InputError when the file does not contain a certificate; Error when
   *   it cannot be read; TypeError as for {@link CaIssuer.create}; the errors
   *   of `keyOf`.
   */
  static async read(options: {
    readonly chainFile: string;
    readonly keyOf: (spki: Buffer) => SigningKey | Promise<SigningKey>;
  }): Promise<CaIssuer> {
    const { chainFile, keyOf } = options;
    const text = await readFile(chainFile, 'utf8');
    const chain = readPemBlocks(text, { label: 'CERTIFICATE' });
    if (chain.length === 0) {
      throw new InputError(
        `${chainFile} does not contain a certificate in PEM format`,
      );
    }
    return new CaIssuer({ chain, key: await keyOf(publicKeyOf(chain[0])) });
  }

  private constructor(options: {
    readonly chain: readonly Buffer[];
    readonly key: SigningKey;
  }) {
    const { chain, key } = options;
    requireChain(chain);
    this.chain = chain;
    this.issuer = Issuer.create({ certificate: chain[0], key });
    if (this.issuer.certificate.keyUsage?.includes('cRLSign') === false) {
      throw new TypeError(
        "The key usage of the CA's certificate does not include cRLSign",
      );
    }
    this.id = issuerIdOf(key.spki);
  }
}

/** SHA-256 of a SubjectPublicKeyInfo in DER, lowercase hex. */
export function issuerIdOf(spki: Buffer): IssuerId {
  return createHash('sha256').update(spki).digest('hex');
}

/**
 * SubjectPublicKeyInfo of a certificate, DER.
 *
 * @param certificate - DER
 * @throws TypeError when it cannot be read.
 *
 * @public
 */
export function publicKeyOf(certificate: Buffer): Buffer {
  return readCertifiedSubject(certificate).spki;
}

/**
 * URLs at which a CA's documents are published without authentication.
 *
 * @param options - `id`: id of the CA; `publicUrl`: base URL, without a
 *   trailing `/`
 *
 * @public
 */
export function documentUrlsOf(options: {
  readonly id: IssuerId;
  readonly publicUrl: string;
}): {
  /** The CRL, DER. */
  readonly crl: string;
  /** The CA's certificate, DER. */
  readonly certificate: string;
} {
  const base = `${options.publicUrl}/ca/${options.id.slice(0, NAME_LENGTH)}`;
  return { crl: `${base}/crl`, certificate: `${base}/certificate` };
}

/** Requires each certificate to be signed by the next one. */
function requireChain(chain: readonly Buffer[]): void {
  if (chain.length === 0) {
    throw new TypeError('The chain does not contain a certificate');
  }
  const certificates = chain.map(readX509);
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

function readX509(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (error) {
    assertError(error);
    throw new TypeError(`A certificate cannot be read: ${error.message}`);
  }
}
