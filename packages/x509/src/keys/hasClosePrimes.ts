import { createRemainders } from './smallPrimes';

/** As many as the CA/Browser Forum's Baseline Requirements ask for in §6.1.1.3. */
const ROUNDS = 100;

/** Only 12 of the 64 remainders are those of squares, and finding a remainder by 64 costs nothing. */
const SQUARES_OF_64 = new Set(
  Array.from({ length: 64 }, (_, root) => (root * root) % 64),
);

/** Moduli whose squares are rare; together they spare all but one in thousands of square roots. */
const SIEVE = [63, 65, 11, 17, 19, 23, 31];
const squareRemainders = createRemainders(SIEVE);
const squaresBy = SIEVE.map(
  modulus =>
    new Set(
      Array.from({ length: modulus }, (_, root) => (root * root) % modulus),
    ),
);

/**
 * Tells whether Fermat's method factors an odd modulus at once, which it does when the primes are
 * close or equal (CVE-2022-26320): it looks for `a² - modulus = b²` from the square root upwards.
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
  if (!SQUARES_OF_64.has(Number(BigInt.asUintN(6, value)))) {
    return false;
  }
  const possible = squareRemainders(value).every((remainder, index) =>
    squaresBy[index].has(remainder),
  );
  return possible && squareRoot(value) ** 2n === value;
}

/** The largest integer whose square is not above the value, by Newton's method. */
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
