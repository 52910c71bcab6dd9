import { KeyObject } from 'node:crypto';
import { keyIdentifier } from './keyIdentifier';
import { NamePart, writeName } from './writeName';
import { randomSerialNumber } from './randomSerialNumber';
import { SigningKey } from './SigningKey';
import { signTbs } from './signTbs';
import { writeTbsCertificate } from './writeTbsCertificate';

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
