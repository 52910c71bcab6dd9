import { setTimeout as sleep } from 'node:timers/promises';
import {
  askBoth,
  isQuiet,
  isSame,
  type Asked,
  type Round,
  type Writing,
} from './Round';
import { judgeDifference, type Verdict } from './judgeDifference';

/** What became of a difference, and what is known of it. */
export interface Difference {
  /**
   * - `late`: the copy came to say what direct reads said before the last write
   *   had to show
   * - `ahead`: direct reads came to say what the copy had said, by then
   * - `directLate`: they did not by then; the copy was right, as LDAP says
   * - `wrong`: the copy was not, as LDAP says
   * - `undecided`: somebody else wrote while LDAP was asked
   */
  readonly kind: 'late' | 'ahead' | 'directLate' | 'wrong' | 'undecided';
  /**
   * Milliseconds from the question until who was late answered otherwise: the
   * copy, for `directLate` direct reads. `undefined`: nobody waited so long.
   */
  readonly ms: number | undefined;
  /** When they first differed. */
  readonly first: Round;
  /** `undefined`: both agreed before LDAP was asked. */
  readonly verdict: Verdict | undefined;
}

/** What became of a question that was put to both. */
export type Comparison =
  /** The copy said what direct reads said just before or just after. */
  | {
      readonly kind: 'same';
      /** LDAP said so, too. */ readonly proven: boolean;
    }
  | Difference;

const AGAIN_MS = 50;
/** For so long both may differ while the directory is being written to. */
const PATIENCE_MS = 1000;
/** Lists of direct reads show for less than this who is gone. */
const DIRECT_PATIENCE_MS = 60_000;

/**
 * Compares a copy with direct reads of what it is a copy of, while that is
 * being written to. An answer of the copy is taken when direct reads gave the
 * same just before or just after. If not, both are asked again until they
 * agree. After a second of that, or at once where nothing has been written for
 * a second, the writing is held and LDAP itself is asked who is right.
 */
export async function compareAnswers(
  asked: Asked,
  options: { readonly writer: Writing; readonly signal: AbortSignal },
): Promise<Comparison> {
  const { writer, signal } = options;
  let before = await asked.direct();
  const start = performance.now();
  let first: Round | undefined;
  let verdict: Verdict | undefined;
  for (;;) {
    const round = await askBoth(asked, writer);
    const isAgreed =
      isSame(round.copy, round.direct) ||
      (isSame(round.copy, before) && !isQuiet(round, writer));
    const ms = performance.now() - start;
    if (isAgreed) {
      return first
        ? agreed(round, { start, ms, first, verdict })
        : prove(round, { asked, writer });
    }
    first ??= round;
    const isDue = isQuiet(round, writer)
      ? round.usn !== verdict?.truth?.usn
      : !verdict && ms > PATIENCE_MS;
    if (isDue) {
      verdict = await judgeDifference(round, { ...options, asked });
      if (verdict.kind !== 'directLate') {
        const { kind, rightAt } = verdict;
        return { kind, ms: rightAt && rightAt - start, first, verdict };
      }
    }
    if (ms > DIRECT_PATIENCE_MS) {
      // LDAP has been asked after each burst of writes.
      return { kind: 'directLate', ms: undefined, first, verdict };
    }
    before = round.direct;
    await sleep(AGAIN_MS, undefined, { signal });
  }
}

/** Without a verdict of LDAP the copy was late, if it says something else now. */
function agreed(
  round: Round,
  since: {
    readonly start: number;
    readonly ms: number;
    readonly first: Round;
    readonly verdict: Verdict | undefined;
  },
): Difference {
  const { start, ms, first, verdict } = since;
  if (verdict) {
    return { kind: 'directLate', ms, first, verdict };
  }
  return isSame(round.copy, first.copy)
    ? { kind: 'ahead', ms, first, verdict }
    : // It did not wait for the answer of direct reads.
      { kind: 'late', ms: round.askedAt - start, first, verdict };
}

/** Holds what both say against LDAP, where that is known without asking. */
async function prove(
  round: Round,
  options: { readonly asked: Asked; readonly writer: Writing },
): Promise<Comparison> {
  const truth = await options.asked.ldap.recall(round.usn);
  if (!truth?.answer || !isQuiet(round, options.writer)) {
    return { kind: 'same', proven: false };
  }
  if (isSame(round.copy, truth.answer)) {
    return { kind: 'same', proven: true };
  }
  const verdict = { kind: 'wrong', rounds: [round], truth } as const;
  return { kind: 'wrong', ms: undefined, first: round, verdict };
}
