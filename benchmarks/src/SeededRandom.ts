import { generateMersenne53Randomizer } from '@faker-js/faker';

/** Random numbers that are the same in each run. */
export class SeededRandom {
  readonly #source;

  constructor(seed: number) {
    this.#source = generateMersenne53Randomizer(seed);
  }

  /** Returns an integer from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.#source.next() * limit);
  }

  /**
   * Returns an item of a list.
   *
   * @throws Error when the list is empty
   */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) {
      throw new Error('The list is empty');
    }
    return list[this.below(list.length)];
  }
}
