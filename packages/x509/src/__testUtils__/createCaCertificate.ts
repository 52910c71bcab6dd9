import type { NamePart, SigningKey } from '@directory-gateway/x509';
import { StructureSigner } from '../issuing/SigningKey';
import { keyIdentifier } from '../issuing/writeExtensions';
import { writeName } from '../issuing/writeNames';
import { randomSerialNumber, writeTbsCertificate } from '../issuing/writeTbs';

/**
 * Options of {@link createCaCertificate}.
 *
 * @public
 */
export interface CaCertificateOptions {
  /** In the order of the encoding: `O`, then `CN`. */
  readonly subject: readonly NamePart[];
  /** RSA, P-256, P-384, P-521 or Ed25519. */
  readonly key: SigningKey;
  /** Start of validity; fractions of a second are dropped. */
  readonly notBefore: Date;
  /** Last second of validity. */
  readonly notAfter: Date;
  /** Default: 127 random bits. */
  readonly serialNumber?: bigint;
}

/**
 * Creates the self-signed certificate of a CA, whose key may sign only
 * certificates and revocation lists.
 *
 * @returns DER
 * @throws TypeError when the key is of another type
 * @throws RangeError when a field is out of range or cannot be written
 *
 * @public
 */
export async function createCaCertificate(
  options: CaCertificateOptions,
): Promise<Buffer> {
  const { subject, notBefore, notAfter } = options;
  const signer = new StructureSigner(options.key);
  const tbs = writeTbsCertificate(
    {
      serialNumber: options.serialNumber ?? randomSerialNumber(),
      subject,
      notBefore,
      notAfter,
      spki: signer.spki,
      extensions: {
        ca: true,
        keyUsage: ['keyCertSign', 'cRLSign'],
      },
    },
    {
      name: writeName(subject),
      keyIdentifier: keyIdentifier(signer.spki),
      algorithm: signer.algorithm,
    },
  );
  return await signer.sign(tbs);
}
