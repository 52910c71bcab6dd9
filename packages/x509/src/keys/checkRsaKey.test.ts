import { generatePrimeSync } from 'node:crypto';
import fc from 'fast-check';
import { int, NULL, seq } from '../__testUtils__/tlv';
import { RequestRefusal } from '../refusals/RequestRefusal';
import {
  checkRsaKey,
  hasClosePrimes,
  hasSmallFactor,
  isRocaModulus,
  oddPrimesBelow,
} from './checkRsaKey';

function codeOf(modulus: bigint, exponent = 65_537n): string {
  try {
    checkRsaKey(seq(int(modulus), int(exponent)));
    return 'accepted';
  } catch (error) {
    return error instanceof RequestRefusal ? error.code : `threw ${error}`;
  }
}

/**
 * Returns the next odd number without small factors, not necessarily the
 * product of two primes.
 */
function nextModulus(value: bigint): bigint {
  let next = value + 2n - (value % 2n === 0n ? 1n : 0n);
  while (hasSmallFactor(next)) {
    next += 2n;
  }
  return next;
}

/** Returns a modulus that is not close to a square. */
function modulusOf(bits: number): bigint {
  return nextModulus(7n * 2n ** BigInt(bits - 3));
}

const prime = (bits: number) => generatePrimeSync(bits, { bigint: true });
const [p, q] = [prime(1024), prime(1024)];
const good = p * q;

describe('checkRsaKey', () => {
  it.each([2048, 3072, 4096, 8192])('accepts a modulus of %d bits', bits => {
    expect(codeOf(modulusOf(bits))).toBe('accepted');
  });

  it.each<[string, string, bigint]>([
    ['key_size', 'of 8193 bits', modulusOf(8193)],
    ['key_size', 'of 1024 bits', modulusOf(1024)],
    ['key_size', 'of 1', 1n],
    ['key_size', 'of 0', 0n],
    ['key_size', 'of 100,000 bits', 2n ** 100_000n + 1n],
    ['key_modulus', 'that is negative', -good],
    ['key_modulus', 'with the factor 751', 751n * prime(2048)],
    ['key_close_primes', 'that is a square', prime(1024) ** 2n],
    ['key_close_primes', 'of close primes', p * nextModulus(p)],
  ])('%s: a modulus %s', (code, _, modulus) => {
    expect(codeOf(modulus)).toBe(code);
  });

  it.each([
    ['accepted', 65_537n],
    ['accepted', 2n ** 32n + 1n],
    ['accepted', 2n ** 256n - 1n],
    ['key_exponent', 65_535n],
    ['key_exponent', 65_538n],
    ['key_exponent', 0n],
    ['key_exponent', -65_537n],
    ['key_exponent', 2n ** 256n + 1n],
  ])('returns %s for an exponent of %d', (outcome, exponent) => {
    expect(codeOf(modulusOf(2048), exponent)).toBe(outcome);
  });

  it('refuses additional or other values', () => {
    expect(() => checkRsaKey(seq(int(good), int(65_537n), NULL))).toThrow(
      'malformed',
    );
    expect(() => checkRsaKey(seq(int(good)))).toThrow('expected');
    expect(() => checkRsaKey(Buffer.alloc(0))).toThrow('truncated');
  });
});

describe('isRocaModulus', () => {
  const primorial = oddPrimesBelow(702).reduce(
    (product, factor) => product * BigInt(factor),
    2n,
  );

  /** k·M + (65537^a mod M), not necessarily prime. */
  const marked = fc
    .tuple(
      fc.bigInt({ min: 1n, max: 2n ** 60n }),
      fc.integer({ min: 1, max: 400 }),
    )
    .map(([k, a]) => k * primorial + (65_537n ** BigInt(a) % primorial));

  it('detects every product of two numbers of the form', () => {
    fc.assert(
      fc.property(marked, marked, (first, second) => {
        expect(isRocaModulus(first * second)).toBe(true);
      }),
    );
  });

  it('does not detect other numbers', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 2n ** 2047n, max: 2n ** 2048n }),
        modulus => {
          expect(isRocaModulus(modulus)).toBe(false);
        },
      ),
    );
  });
});

describe('hasClosePrimes', () => {
  it('detects primes with a small difference', () => {
    const difference = fc
      .bigInt({ min: 0n, max: 2n ** 256n })
      .map(half => 2n * half);
    fc.assert(
      fc.property(difference, apart => {
        expect(hasClosePrimes(p * (p + apart))).toBe(true);
      }),
    );
  });

  it('does not detect an ordinary modulus', () => {
    expect(hasClosePrimes(good)).toBe(false);
  });
});
