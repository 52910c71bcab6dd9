import { createRemainders, oddPrimesBelow } from './smallPrimes';

/** SP 800-89 §5.3.3: a modulus has no factor below 752. */
const factorRemainders = createRemainders(oddPrimesBelow(752));

/** Tells whether an odd modulus has a factor that no RSA key may have. */
export function hasSmallFactor(modulus: bigint): boolean {
  return factorRemainders(modulus).includes(0);
}
