import { setTimeout as sleep } from 'node:timers/promises';
import type { ComparedAnswer } from './ComparedAnswer';
import type { Truth } from './LdapTruth';
import {
  askBoth,
  isQuiet,
  isSame,
  type Asked,
  type Round,
  type Writing,
} from './Round';

/** What LDAP says of a difference. */
export interface Verdict {
  /** As of a `Difference`. */
  readonly kind: 'late' | 'ahead' | 'directLate' | 'wrong' | 'undecided';
  /**
   * What both said while the writing was held, the last of it when all that
   * was written had to show.
   */
  readonly rounds: readonly [Round, ...Round[]];
  /** `undefined` when it was written to by somebody else. */
  readonly truth: Truth | undefined;
  /**
   * When who was late, or the copy that was wrong, was first seen to be right,
   * by `performance.now()`.
   */
  readonly rightAt?: number;
}

const AGAIN_MS = 50;
/** A copy that is wrong is asked again for so long. */
const PATIENCE_MS = 15_000;

/**
 * Decides who is right when a copy and direct reads differ, by what LDAP says.
 *
 * While it does, nothing is written, so that LDAP's answer holds for each
 * answer since the last write ended, however long it takes to get it: the
 * directory counts its writes, and its number is the same before the copy is
 * asked and after all entries have been read. Only what was asked for when a
 * second had passed can be wrong. An answer that was asked for by then, before
 * the writing was held, is not asked for again: it might have become right.
 */
export async function judgeDifference(
  found: Round,
  options: {
    readonly asked: Asked;
    readonly writer: Writing;
    readonly signal: AbortSignal;
  },
): Promise<Verdict> {
  const { asked, writer } = options;
  return writer.whileHeld(async () => {
    const rounds = isQuiet(found, writer)
      ? ([found] as const)
      : await askUntilQuiet(options);
    const truth = await asked.ldap.ask();
    const last = rounds.at(-1)!;
    if (truth?.usn !== last.usn) {
      return { kind: 'undecided', rounds, truth: undefined };
    }
    const { answer } = truth;
    if (!answer) {
      // What is not the directory's own is late nowhere.
      const kind = isSame(last.copy, last.direct) ? 'late' : 'wrong';
      return { kind, rounds, truth };
    }
    if (!isSame(last.copy, answer)) {
      const rightAt = await untilRight(answer, options);
      return { kind: 'wrong', rounds, truth, rightAt };
    }
    return { ...whoWasLate([found, ...rounds], answer), rounds, truth };
  });
}

/** Until all that was written has to show. */
async function askUntilQuiet(options: {
  readonly asked: Asked;
  readonly writer: Writing;
  readonly signal: AbortSignal;
}): Promise<readonly [Round, ...Round[]]> {
  const { asked, writer, signal } = options;
  let last = await askBoth(asked, writer);
  const rounds: [Round, ...Round[]] = [last];
  while (!isQuiet(last, writer)) {
    await sleep(AGAIN_MS, undefined, { signal });
    last = await askBoth(asked, writer);
    rounds.push(last);
  }
  return rounds;
}

function whoWasLate(
  rounds: readonly Round[],
  answer: ComparedAnswer,
): Pick<Verdict, 'kind' | 'rightAt'> {
  if (!isSame(rounds.at(-1)!.direct, answer)) {
    return { kind: 'directLate' };
  }
  const isCopyLate = rounds.some(({ copy }) => !isSame(copy, answer));
  const wasLate = ({ copy, direct }: Round) =>
    !isSame(isCopyLate ? copy : direct, answer);
  const right = rounds[rounds.findLastIndex(wasLate) + 1];
  return { kind: isCopyLate ? 'late' : 'ahead', rightAt: right.askedAt };
}

async function untilRight(
  answer: ComparedAnswer,
  options: { readonly asked: Asked; readonly signal: AbortSignal },
): Promise<number | undefined> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const askedAt = performance.now();
    if (isSame(await options.asked.copy(), answer)) {
      return askedAt;
    }
    await sleep(AGAIN_MS, undefined, { signal: options.signal });
  }
  return undefined;
}
