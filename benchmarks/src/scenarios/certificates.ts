import {
  createSigningRequest,
  type KeyPair,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  generatePrimeSync,
} from 'node:crypto';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { settings } from '../settings';
import type { Scenario } from './Scenario';

/** The portal that issues certificates before they are read. */
interface Issuer {
  readonly origin: string;
  token(): Promise<string>;
}

/**
 * CSRs, each with its own key: a CA may return the first certificate for a
 * repeated request. CSRs are created while nothing is measured.
 */
class CsrPool {
  readonly #keys: Iterator<KeyPair, never>;
  readonly #ready = new Map<string, string[]>();

  constructor(keys: Iterator<KeyPair, never>) {
    this.#keys = keys;
  }

  /** Creates CSRs until there are enough, the same number for each user. */
  async prepare(need: {
    readonly usernames: readonly string[];
    readonly count: number;
  }): Promise<void> {
    const share = Math.ceil(need.count / need.usernames.length);
    for (const username of need.usernames) {
      const ready = this.#ready.get(username) ?? [];
      this.#ready.set(username, ready);
      while (ready.length < share) {
        ready.push(this.#create(username));
        await yieldToEvents();
      }
    }
  }

  /** Returns a CSR of a user: PKCS#10, base64 without PEM armor. */
  take(username: string): string {
    return this.#ready.get(username)?.pop() ?? this.#create(username);
  }

  #create(username: string): string {
    const { csr } = createSigningRequest({
      username,
      principal: username,
      profile: 'userCerts',
      key: this.#keys.next().value,
    });
    return csr.toString('base64');
  }
}

/** Requests that issue certificates, and reads of issued certificates. */
export function certificateScenarios(
  /** The portal, and the user of its token. */
  issuer: Issuer,
  username: string,
): readonly Scenario[] {
  return [
    issuance('RSA-2048', new CsrPool(rsaKeys())),
    issuance('P-256', new CsrPool(p256Keys())),
    certificateBySerialNumber(() => issueCertificates(issuer, username)),
  ];
}

function issuance(keyType: string, csrs: CsrPool): Scenario {
  return {
    name: `POST /certs/ ${keyType}`,
    modes: ['negotiate', 'token'],
    prepare: need => csrs.prepare(need),
    next: (_random, username) => ({
      path: '/certs/',
      form: signingForm(username, csrs.take(username)),
      expected: [
        `"subject":"CN=${username},O=`,
        `"owner_user":["${username}"]`,
        '"revoked":false',
      ],
    }),
  };
}

function certificateBySerialNumber(
  issue: () => Promise<readonly string[]>,
): Scenario {
  let serialNumbers: readonly string[] = [];
  return {
    name: '/certs/{serial}/',
    async prepare() {
      if (serialNumbers.length === 0) {
        serialNumbers = await issue();
      }
    },
    next(random) {
      const serialNumber = random.pick(serialNumbers);
      return {
        path: `/certs/${serialNumber}/`,
        expected: [`"serial_number":${serialNumber},`, '"revoked":false'],
      };
    },
  };
}

/**
 * Issues certificates; returns serial numbers, which exceed the range of a
 * `number`.
 */
async function issueCertificates(
  issuer: Issuer,
  username: string,
): Promise<readonly string[]> {
  const authorization = `Bearer ${await issuer.token()}`;
  const csrs = new CsrPool(p256Keys());
  const serialNumbers: string[] = [];
  while (serialNumbers.length < settings.certificates) {
    const response = await fetch(`${issuer.origin}/api/directory/v1/certs/`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: signingForm(username, csrs.take(username)),
    });
    const text = await response.text();
    const [, serialNumber] = /"serial_number":(\d+)/.exec(text) ?? [];
    if (!response.ok || serialNumber === undefined) {
      throw new Error(`POST /certs/ returned ${response.status}: ${text}`);
    }
    serialNumbers.push(serialNumber);
  }
  return serialNumbers;
}

function signingForm(username: string, csr: string): string {
  return String(new URLSearchParams({ user: username, csr }));
}

function* p256Keys(): Generator<KeyPair, never> {
  for (;;) {
    yield generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }
}

const EXPONENT = 65_537n;

/**
 * Generates RSA-2048 keys from all pairs of random primes, because finding
 * primes takes fifty times as long as the rest of a CSR. Such keys are not
 * secret, and take a server as long as others.
 */
function* rsaKeys(): Generator<KeyPair, never> {
  const primes: bigint[] = [];
  for (;;) {
    const prime = randomPrime();
    for (const other of primes) {
      yield rsaKey(prime, other);
    }
    primes.push(prime);
  }
}

/** Returns a prime for which the exponent has an inverse (RFC 8017 §3.1). */
function randomPrime(): bigint {
  const prime = generatePrimeSync(1024, { bigint: true });
  return (prime - 1n) % EXPONENT === 0n ? randomPrime() : prime;
}

function rsaKey(p: bigint, q: bigint): KeyPair {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = {
    n: p * q,
    e: EXPONENT,
    d,
    p,
    q,
    dp: d % (p - 1n),
    dq: d % (q - 1n),
    qi: inverse(q, p),
  };
  // RFC 7518 §6.3.2.
  const key = Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [name, base64Url(value)]),
  );
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: { kty: 'RSA', ...key },
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Computes the inverse with Euclid's extended algorithm. */
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

function base64Url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(
    hex.padStart(hex.length + (hex.length % 2), '0'),
    'hex',
  ).toString('base64url');
}
