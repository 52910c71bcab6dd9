/** RFC 5280 §4.1.2.2: at most 20 octets. */
const LARGEST = 2n ** 160n - 1n;

/**
 * Reads a serial number as people copy it: decimal, or hexadecimal with `0x`,
 * with colons between octets (as OpenSSL prints it), or with a letter in it.
 * Exact, however long; `undefined` for what is no serial number.
 */
export function readSerial(text: string): bigint | undefined {
  const compact = text.trim().replace(/^serial\s*[=:]\s*/i, '');
  const hex = /^0x[0-9a-f]+$/i.test(compact)
    ? compact.slice(2)
    : readHex(compact);
  if (!hex && !/^\d+$/.test(compact)) {
    return undefined;
  }
  const serial = BigInt(hex ? `0x${hex}` : compact);
  return serial <= LARGEST ? serial : undefined;
}

function readHex(text: string): string | undefined {
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{2})+$/i.test(text)) {
    return text.replaceAll(':', '');
  }
  return /^[0-9a-f]*[a-f][0-9a-f]*$/i.test(text) ? text : undefined;
}
