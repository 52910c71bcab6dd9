import { createRemainders, oddPrimesBelow } from './smallPrimes';

/**
 * Infineon's library made each prime as `k·M + (65537^a mod M)`, with M the product of the first
 * primes (CVE-2017-15361; Nemec et al., "The Return of Coppersmith's Attack", §2). So a modulus of
 * its making is a power of 65537 modulo each of these primes. 39 primes are in M for every key size;
 * a modulus of other making passes for one of these once in about 2^27.
 */
const PRIMES = oddPrimesBelow(168);

const GENERATOR = 65_537;

const rocaRemainders = createRemainders(PRIMES);
const powersByPrime = PRIMES.map(prime => powersOf(GENERATOR % prime, prime));

/** Tells whether a modulus bears the mark of Infineon's faulty library. */
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
