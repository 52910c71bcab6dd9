import type { Entry } from 'ldapts';
import type { Mode } from '../credentials/Credentials';
import type { DirectoryClient } from '../DirectoryClient';
import type { SeededRandom } from '../SeededRandom';
import type { Goals } from './goals';

/** One request, drawn at random. */
export interface DrawnRequest {
  /** Below the address that the load generator has. */
  readonly path: string;
  /** Sent by POST, URL-encoded. Default: a GET without a body. */
  readonly form?: string;
  /** Texts that a right answer contains, whatever else it says. */
  readonly expected: readonly string[];
}

/** One request, and how the directory is asked the same. */
export interface DirectoryRequest extends DrawnRequest {
  /**
   * Asks the directory what a client without the gateway would have to, in
   * the fewest operations that give the same answer; resolves with what the
   * last one found.
   */
  readonly ask: (directory: DirectoryClient) => Promise<readonly Entry[]>;
  /** How many entries `ask` must find. */
  readonly entries: number;
}

/** Of some things the directory knows nothing: certificates are not its own. */
export type Drawn =
  | DirectoryRequest
  | (DrawnRequest & { readonly ask?: undefined });

/** A kind of request, a row of the table. */
export interface Question {
  readonly name: string;
  /** Required results with 20,000 people. */
  readonly goals?: Goals;
  /** The modes in which it is asked. Default: with tickets. */
  readonly modes?: readonly Mode[];
  /** Makes what so many requests of these callers need, before they are drawn. */
  prepare?(need: {
    readonly usernames: readonly string[];
    readonly count: number;
  }): Promise<void>;
  /** Draws one; `caller` is the directory user who will ask. */
  draw(random: SeededRandom, caller: string): Drawn;
}
