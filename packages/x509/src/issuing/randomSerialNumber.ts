import { randomBytes } from 'node:crypto';

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
