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
 * Finds the remainder of a large number by each of some primes. Reduces it by their product first,
 * so that only one division is a long one.
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
