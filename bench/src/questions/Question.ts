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

/** One request, drawn at random. */
export interface DrawnRequest {
  /** Below `/api/directory/v1`. */
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
  readonly goal?: Goal;
  /** Makes what so many requests of these callers need, before they are drawn. */
  prepare?(need: {
    readonly usernames: readonly string[];
    readonly count: number;
  }): Promise<void>;
  /** Draws one; `caller` is the directory user who will ask. */
  draw(random: SeededRandom, caller: string): Drawn;
}
