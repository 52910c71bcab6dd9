import { generateMersenne53Randomizer } from '@faker-js/faker';

/** Draws at random, and the same in every run. */
export class SeededRandom {
  readonly #source;

  constructor(seed: number) {
    this.#source = generateMersenne53Randomizer(seed);
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.#source.next() * limit);
  }

  /**
   * One of a list.
   *
   * @throws Error when the list is empty
   */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) {
      throw new Error('There is nothing to draw from');
    }
    return list[this.below(list.length)];
  }
}
