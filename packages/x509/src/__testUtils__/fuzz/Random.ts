/** Pseudo-random numbers from a seed (Marsaglia's xorshift, 32 bits). */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Spreads neighboring seeds; a state of zero would stay zero.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  }

  /** Returns an integer from 0 to limit - 1. */
  below(limit: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) % limit;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
