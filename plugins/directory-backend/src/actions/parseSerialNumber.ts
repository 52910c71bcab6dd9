import { InputError } from '@backstage/errors';

/** 20 octets (RFC 5280 §4.1.2.2), as people write them. */
const SERIAL_NUMBER = /^(?:[0-9]{1,49}|0x[0-9a-f]{1,40})$/i;

/**
 * Reads a serial number as people give it: decimal, or hexadecimal after `0x`.
 *
 * @throws InputError when it is neither.
 */
export function parseSerialNumber(text: string): bigint {
  const trimmed = text.trim();
  if (!SERIAL_NUMBER.test(trimmed)) {
    throw new InputError(
      'A serial number must be decimal, or hexadecimal with 0x in front',
    );
  }
  return BigInt(trimmed);
}
