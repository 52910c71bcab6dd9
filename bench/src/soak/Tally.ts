import type { Comparison } from './AnswerComparison';

/** Characters that are told of a wrong answer, from its first difference. */
const BEFORE = 120;
const AFTER = 200;

/** What a soak has seen so far. */
export class Tally {
  #requests = 0;
  #compared = 0;
  #late = 0;
  #ahead = 0;
  #lateLists = 0;
  #undecided = 0;
  #latestMs = 0;
  readonly #serverErrors: string[] = [];
  readonly #wrong: string[] = [];

  /** Requests to the portal with the copy. */
  get requests(): number {
    return this.#requests;
  }

  get compared(): number {
    return this.#compared;
  }

  /** Lists on which both agreed only when they were asked again. */
  get lateLists(): number {
    return this.#lateLists;
  }

  /** Lists that differed while direct reads may still show who is gone. */
  get undecided(): number {
    return this.#undecided;
  }

  /** Other questions on which the copy agreed only when it was asked again. */
  get late(): number {
    return this.#late;
  }

  /** Questions on which direct reads were late. */
  get ahead(): number {
    return this.#ahead;
  }

  /** The longest time until the copy agreed, in milliseconds. */
  get latestMs(): number {
    return this.#latestMs;
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
  }

  /**
   * Counts a comparison. Which of the two was late in a list cannot be said:
   * direct reads may show for some time who is gone.
   */
  hasCompared(
    { path, isList }: { readonly path: string; readonly isList: boolean },
    comparison: Comparison,
  ): void {
    this.#compared++;
    if (comparison.kind === 'undecided') {
      this.#undecided++;
    }
    if (isList && (comparison.kind === 'late' || comparison.kind === 'ahead')) {
      this.#lateLists++;
      return;
    }
    if (comparison.kind === 'late') {
      this.#late++;
      this.#latestMs = Math.max(this.#latestMs, comparison.ms);
    }
    if (comparison.kind === 'ahead') {
      this.#ahead++;
    }
    if (comparison.kind === 'wrong') {
      const { copy, direct } = comparison;
      const at = firstDifference(copy.text, direct.text);
      this.#wrong.push(
        `${path}: ${copy.status} ${around(copy.text, at)} instead of ${
          direct.status
        } ${around(direct.text, at)}`,
      );
    }
  }
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) {
    at++;
  }
  return at;
}

/** What stands before and after a place. */
function around(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - BEFORE), at + AFTER));
}
