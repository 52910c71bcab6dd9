import type { Entry } from 'ldapts';
import type { Mode } from '../Credentials';
import type { DirectoryClient } from '../DirectoryClient';
import type { SeededRandom } from '../SeededRandom';

/** What a kind of request must reach. */
export interface Goal {
  /** Requests a second under load. */
  readonly rps: number;
  /** Milliseconds, the median on one connection. */
  readonly p50Ms?: number;
  /** The modes for which it was set. */
  readonly modes: readonly Mode[];
}

/** One request, drawn at random, and how the directory is asked the same. */
export interface Drawn {
  /** Below `/api/directory/v1`. */
  readonly path: string;
  /** Texts that a right answer contains, whatever else it says. */
  readonly expected: readonly string[];
  /**
   * Asks the directory what a client without the gateway would have to, in
   * the fewest operations that give the same answer; resolves with what the
   * last one found.
   */
  readonly ask: (directory: DirectoryClient) => Promise<readonly Entry[]>;
  /** How many entries `ask` must find. */
  readonly entries: number;
}

/** A kind of request, a row of the table. */
export interface Question {
  readonly name: string;
  readonly goal?: Goal;
  /** Draws one; `caller` is the directory user who will ask. */
  draw(random: SeededRandom, caller: string): Drawn;
}
