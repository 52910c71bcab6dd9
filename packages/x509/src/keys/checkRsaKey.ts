import { readChildren, readInteger } from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { hasClosePrimes } from './hasClosePrimes';
import { hasSmallFactor } from './hasSmallFactor';
import { isRocaModulus } from './isRocaModulus';

const MIN_BITS = 2048;
const MAX_BITS = 8192;

/** Bounds of FIPS 186-5 §5.1, with 65537 itself allowed as everybody uses it. */
const MIN_EXPONENT = 65_537n;
const EXPONENT_LIMIT = 2n ** 256n;

/**
 * Checks an RSAPublicKey (RFC 8017 §A.1.1): its numbers are sane, and its modulus is none of those
 * that anybody can factor.
 *
 * Not looked for: the keys of Debian's weak generator (CVE-2008-0166; it takes a table of some MB),
 * factors shared with other people's keys, and moduli that are prime.
 *
 * @returns the bits of the modulus
 * @throws DerError when the structure is another
 * @throws RequestRefusal when a number is not accepted
 */
export function checkRsaKey(octets: Buffer): number {
  const [modulusNode, exponentNode, ...rest] = readChildren(
    readStrictDer(octets),
  );
  const modulus = readInteger(modulusNode);
  const exponent = readInteger(exponentNode);
  if (rest.length > 0) {
    throw new RequestRefusal('malformed_key');
  }
  if (
    exponent < MIN_EXPONENT ||
    exponent >= EXPONENT_LIMIT ||
    exponent % 2n === 0n
  ) {
    throw new RequestRefusal('key_exponent');
  }
  return checkModulus(modulus);
}

function checkModulus(modulus: bigint): number {
  if (modulus < 0n) {
    throw new RequestRefusal('key_modulus');
  }
  const bits = modulus.toString(2).length;
  if (bits < MIN_BITS || bits > MAX_BITS) {
    throw new RequestRefusal('key_size');
  }
  if (modulus % 2n === 0n || hasSmallFactor(modulus)) {
    throw new RequestRefusal('key_modulus');
  }
  if (isRocaModulus(modulus)) {
    throw new RequestRefusal('key_roca');
  }
  if (hasClosePrimes(modulus)) {
    throw new RequestRefusal('key_close_primes');
  }
  return bits;
}
