import { readChildren, readInteger } from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import { RequestRefusal } from '../refusals/RequestRefusal';

const MIN_BITS = 2048;
const MAX_BITS = 8192;

/** Bounds of FIPS 186-5 §5.1; the usual value, 65537, is allowed as well. */
const MIN_EXPONENT = 65_537n;
const EXPONENT_LIMIT = 2n ** 256n;

/**
 * Checks an RSAPublicKey (RFC 8017 §A.1.1): the ranges of its numbers, and moduli that are known to be
 * easy to factor.
 *
 * Not detected: keys of Debian's weak generator (CVE-2008-0166; requires a
 * table of several MB), factors shared with other keys, and prime moduli.
 *
 * @throws DerError when the structure is malformed
 * @throws RequestRefusal when a number is not accepted
 */
export function checkRsaKey(octets: Buffer): void {
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
  checkModulus(modulus);
}

function checkModulus(modulus: bigint): void {
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
}

/** Rounds required by the CA/Browser Forum's Baseline Requirements §6.1.1.3. */
const ROUNDS = 100;

/**
 * Squares have only 12 of the 64 remainders, and computing a remainder by 64 is
 * cheap.
 */
const SQUARES_OF_64 = new Set(
  Array.from({ length: 64 }, (_, root) => (root * root) % 64),
);

/**
 * Detects primes that are close or equal (CVE-2022-26320) with Fermat's method: it searches for
 * `a² - modulus = b²` from the square root of the odd modulus upwards.
 */
export function hasClosePrimes(modulus: bigint): boolean {
  let a = squareRoot(modulus);
  if (a * a < modulus) {
    a += 1n;
  }
  let difference = a * a - modulus;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (isSquare(difference)) {
      return true;
    }
    difference += 2n * a + 1n;
    a += 1n;
  }
  return false;
}

function isSquare(value: bigint): boolean {
  return (
    SQUARES_OF_64.has(Number(BigInt.asUintN(6, value))) &&
    squareRoot(value) ** 2n === value
  );
}

/** The integer part of the square root, by Newton's method. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) {
    return value;
  }
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) {
      return root;
    }
    root = next;
  }
}

/** SP 800-89 §5.3.3: a modulus has no factor below 752. */
const factorRemainders = createRemainders(oddPrimesBelow(752));

/** Detects a small factor of an odd modulus. */
export function hasSmallFactor(modulus: bigint): boolean {
  return factorRemainders(modulus).includes(0);
}

/**
 * Infineon's library generated primes as `k·M + (65537^a mod M)`, where M is
 * the product of the first primes (CVE-2017-15361; Nemec et al., "The Return of
 * Coppersmith's Attack", §2). Its moduli are a power of 65537 modulo each of
 * these primes. M has 39 primes for every key size; about one in 2^27 other
 * moduli is detected by mistake.
 */
const PRIMES = oddPrimesBelow(168);

const GENERATOR = 65_537;

const rocaRemainders = createRemainders(PRIMES);
const powersByPrime = PRIMES.map(prime => powersOf(GENERATOR % prime, prime));

/** Detects a modulus of Infineon's faulty library. */
export function isRocaModulus(modulus: bigint): boolean {
  return rocaRemainders(modulus).every((remainder, index) =>
    powersByPrime[index].has(remainder),
  );
}

function powersOf(base: number, prime: number): Set<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * base) % prime) {
    powers.add(power);
  }
  return powers;
}

/** The odd primes below a limit, ascending. */
export function oddPrimesBelow(limit: number): number[] {
  const primes = new Array<number>();
  for (let candidate = 3; candidate < limit; candidate += 2) {
    if (primes.every(prime => candidate % prime !== 0)) {
      primes.push(candidate);
    }
  }
  return primes;
}

/**
 * Returns a function that computes the remainders of a large number by several
 * primes. It divides by their product first, so that only one long division is
 * necessary.
 */
export function createRemainders(
  primes: readonly number[],
): (value: bigint) => number[] {
  const divisors = primes.map(BigInt);
  const product = divisors.reduce((factor, prime) => factor * prime, 1n);
  return value => {
    const reduced = value % product;
    return divisors.map(prime => Number(reduced % prime));
  };
}
