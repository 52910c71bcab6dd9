import { KeyObject, randomBytes } from 'node:crypto';
import { keyIdentifier } from './writeExtensions';
import { NamePart, writeName } from './writeNames';
import { SigningKey } from './SigningKey';
import { signTbs } from './Issuer';
import { writeTbsCertificate } from './writeTbs';

/**
 * Options of {@link createCaCertificate}.
 *
 * @public
 */
export interface CaCertificateOptions {
  /** In the order of the encoding: `O`, then `CN`. */
  readonly subject: readonly NamePart[];
  /** RSA, P-256, P-384, P-521 or Ed25519. */
  readonly privateKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** How many CAs may follow below this one. Default: 0. */
  readonly pathLength?: number;
  /** Default: 127 random bits. */
  readonly serialNumber?: bigint;
}

/**
 * Makes a CA's self-signed certificate, for signing certificates and revocation lists and nothing
 * else.
 *
 * @returns DER
 * @throws TypeError when the key is of another kind
 * @throws RangeError when a field cannot be written, or makes no sense
 *
 * @public
 */
export function createCaCertificate(options: CaCertificateOptions): Buffer {
  const { subject, notBefore, notAfter, pathLength = 0 } = options;
  const key = SigningKey.create(options.privateKey);
  const tbs = writeTbsCertificate(
    {
      serialNumber: options.serialNumber ?? randomSerialNumber(),
      subject,
      notBefore,
      notAfter,
      extensions: {
        basicConstraints: { ca: true, pathLength },
        keyUsage: ['keyCertSign', 'cRLSign'],
      },
    },
    {
      spki: key.spki,
      issuer: writeName(subject),
      issuerKeyIdentifier: keyIdentifier(key.spki),
      algorithm: key.algorithm,
    },
  );
  return signTbs(tbs, key);
}

/**
 * Draws a serial number: 127 random bits, positive, 16 octets at most in DER, and with more entropy
 * than the 64 bits that the CA/Browser Forum's Baseline Requirements ask for in §7.1.
 *
 * @public
 */
export function randomSerialNumber(): bigint {
  const serialNumber = BigInt.asUintN(
    127,
    BigInt(`0x${randomBytes(16).toString('hex')}`),
  );
  // RFC 5280 §4.1.2.2 forbids zero.
  return serialNumber === 0n ? randomSerialNumber() : serialNumber;
}
