import { setTimeout as sleep } from 'node:timers/promises';

/** An answer as it is compared: without what is a server's own. */
export interface ComparedAnswer {
  readonly status: number;
  readonly text: string;
}

/** What became of a question that was put to both. */
export type Comparison =
  /** The copy said what the directory said just before or just after. */
  | { readonly kind: 'same' }
  /** So many milliseconds later the copy said what the directory said. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The directory's answer became the one that the copy had given. */
  | { readonly kind: 'ahead'; readonly ms: number }
  /** They differ, and nobody can say which of them is late. */
  | { readonly kind: 'undecided' }
  /** They differ, and what was written must be known to both by now. */
  | {
      readonly kind: 'wrong';
      readonly copy: ComparedAnswer;
      readonly direct: ComparedAnswer;
    };

/** How a question is put to both. */
export interface AskBoth {
  readonly copy: () => Promise<ComparedAnswer>;
  readonly direct: () => Promise<ComparedAnswer>;
}

const AGAIN_MS = 50;

/**
 * Compares a copy with what it is a copy of, while that is being written to.
 * An answer of the copy is right when it is the directory's own of just before
 * or just after. If it is neither, both are asked again until they agree; when
 * they do not although the directory has been quiet, the copy is wrong.
 */
export async function compareAnswers(
  ask: AskBoth,
  options: {
    /**
     * What to make of answers that differ and were asked for at a time (by
     * `performance.now()`): `wrong` when nothing was written so long before
     * that both must know of all of it.
     */
    readonly judge: (at: number) => 'wait' | 'wrong' | 'undecided';
    readonly signal: AbortSignal;
  },
): Promise<Comparison> {
  const { judge, signal } = options;
  let before = await ask.direct();
  const start = performance.now();
  let first: ComparedAnswer | undefined;
  for (;;) {
    const askedAt = performance.now();
    const copy = await ask.copy();
    const after = await ask.direct();
    if (isSame(copy, before) || isSame(copy, after)) {
      const ms = performance.now() - start;
      if (!first) {
        return { kind: 'same' };
      }
      return { kind: isSame(copy, first) ? 'ahead' : 'late', ms };
    }
    const judgement = judge(askedAt);
    if (judgement === 'undecided') {
      return { kind: 'undecided' };
    }
    if (judgement === 'wrong' && isSame(before, after)) {
      return { kind: 'wrong', copy, direct: after };
    }
    first ??= copy;
    before = after;
    await sleep(AGAIN_MS, undefined, { signal });
  }
}

function isSame(one: ComparedAnswer, other: ComparedAnswer): boolean {
  return one.status === other.status && one.text === other.text;
}
