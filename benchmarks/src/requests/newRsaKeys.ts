import {
  createPrivateKey,
  createPublicKey,
  generatePrimeSync,
  type JsonWebKey,
} from 'node:crypto';
import type { KeyPair } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

const PRIME_BITS = 1024;
const EXPONENT = 65_537n;

/**
 * RSA-2048 keys, no two alike and without an end. Finding a key's primes takes
 * the CPU fifty times as long as all else that a request needs, so each prime
 * is in a key with every other one. Keys that share a prime keep no secret
 * (their greatest common divisor tells it), and cost a server the same as good
 * ones.
 */
export function* newRsaKeys(): Generator<KeyPair, never> {
  const primes: bigint[] = [];
  for (;;) {
    const prime = newPrime();
    for (const other of primes) {
      yield toKeyPair(prime, other);
    }
    primes.push(prime);
  }
}

/** One that fits the exponent: RFC 8017 §3.1 has no private exponent else. */
function newPrime(): bigint {
  const prime = generatePrimeSync(PRIME_BITS, { bigint: true });
  return (prime - 1n) % EXPONENT === 0n ? newPrime() : prime;
}

/** RFC 7518 §6.3.2. */
function toKeyPair(p: bigint, q: bigint): KeyPair {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const key: JsonWebKey = {
    kty: 'RSA',
    n: toBase64Url(p * q),
    e: toBase64Url(EXPONENT),
    d: toBase64Url(d),
    p: toBase64Url(p),
    q: toBase64Url(q),
    dp: toBase64Url(d % (p - 1n)),
    dq: toBase64Url(d % (q - 1n)),
    qi: toBase64Url(inverse(q, p)),
  };
  const privateKey = createPrivateKey({ format: 'jwk', key });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** By Euclid's extended algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, value % modulus];
  let [factor, nextFactor] = [0n, 1n];
  while (next > 0n) {
    const quotient = rest / next;
    [rest, next] = [next, rest - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return factor < 0n ? factor + modulus : factor;
}

function toBase64Url(value: bigint): string {
  const hex = value.toString(16);
  const even = hex.padStart(hex.length + (hex.length % 2), '0');
  return Buffer.from(even, 'hex').toString('base64url');
}
