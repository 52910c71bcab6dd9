import type { Comparison, Difference } from './AnswerComparison';
import { formatDifference } from './formatDifference';
import type { SoakCall } from './SoakQuestion';

/** A difference of this length is told, in milliseconds. */
const TOLD_MS = 1000;

/** What a soak has seen so far. */
export class Tally {
  #requests = 0;
  #compared = 0;
  #proven = 0;
  readonly #counts = new Map<Difference['kind'], number>();
  readonly #longest = new Map<Difference['kind'], number>();
  readonly #serverErrors: string[] = [];
  readonly #wrong: string[] = [];
  readonly #tell: (line: string) => void;

  /** @param tell - hears of what is wrong, and of what lasts, at once */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Requests to the portal with the copy. */
  get requests(): number {
    return this.#requests;
  }

  get compared(): number {
    return this.#compared;
  }

  /** Answers on which LDAP, the copy and direct reads agreed. */
  get proven(): number {
    return this.#proven;
  }

  /** How many differences of a kind there were. */
  count(kind: Difference['kind']): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** The longest of them that is known, in milliseconds. */
  longestMs(kind: Difference['kind']): number {
    return this.#longest.get(kind) ?? 0;
  }

  /** Answers with a status of 500 or more, in words. */
  get serverErrors(): readonly string[] {
    return this.#serverErrors;
  }

  /** Wrong answers, in words. */
  get wrong(): readonly string[] {
    return this.#wrong;
  }

  /** Counts an answer of the portal with the copy. */
  answered(path: string, status: number): void {
    this.#requests++;
    if (status >= 500) {
      this.#serverErrors.push(`${path} answered ${status}`);
    }
  }

  /** Counts a wrong answer. */
  isWrong(complaint: string): void {
    this.#wrong.push(complaint);
    this.#tell(complaint);
  }

  /** Counts a comparison, and tells of what lasted. */
  hasCompared(call: SoakCall, comparison: Comparison): void {
    this.#compared++;
    const { kind } = comparison;
    if (kind === 'same') {
      this.#proven += comparison.proven ? 1 : 0;
      return;
    }
    const { ms = Infinity } = comparison;
    this.#counts.set(kind, this.count(kind) + 1);
    if (ms < Infinity) {
      this.#longest.set(kind, Math.max(this.longestMs(kind), ms));
    }
    if (kind === 'wrong') {
      this.isWrong(formatDifference(call, comparison));
    } else if (ms > TOLD_MS) {
      this.#tell(formatDifference(call, comparison));
    }
  }
}
