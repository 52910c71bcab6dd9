import { time } from '../table/numbers';
import type { Difference } from './AnswerComparison';
import type { ComparedAnswer } from './ComparedAnswer';
import type { Verdict } from './judgeDifference';
import { isSame, type Round } from './Round';
import type { SoakCall } from './SoakQuestion';

/** Characters that are told of an answer, from its first difference. */
const BEFORE = 120;
const AFTER = 200;

const NAMES: Readonly<Record<Difference['kind'], string>> = {
  late: 'late',
  ahead: 'ahead',
  directLate: 'direct reads late',
  wrong: 'wrong',
  undecided: 'undecided',
};

/**
 * A difference in one line, from which its cause may be found: what was asked,
 * where the answers begin to differ, what LDAP said, when was written, and how
 * long it took.
 */
export function formatDifference(
  { path, mask, username }: SoakCall,
  { kind, ms, first, verdict }: Difference,
): string {
  const round = shownOf(verdict) ?? first;
  const truth = verdict?.truth?.answer;
  const isHeld = verdict?.rounds.includes(round) ?? false;
  const answers = [round.copy, round.direct, ...(truth ? [truth] : [])];
  const at = firstDifference(answers);
  return [
    `${NAMES[kind]}: ${path} for ${username}${mask ? ` (${mask})` : ''}`,
    `copy ${around(round.copy, at)}`,
    `direct ${around(round.direct, at)}`,
    // What was written until the writing was held, LDAP knows as well.
    `${verdict && !isHeld ? 'later LDAP' : 'LDAP'} ${whatLdapSaid(
      round,
      verdict,
    )}`,
    sinceWrite(round),
    ms === undefined
      ? 'did not end while it was waited for'
      : `seen to have ended ${time(ms)} ms after it was asked`,
  ].join('; ');
}

/** What was wrong, or else the last difference while the writing was held. */
function shownOf(verdict: Verdict | undefined): Round | undefined {
  return verdict?.kind === 'wrong'
    ? verdict.rounds.at(-1)
    : verdict?.rounds.findLast(({ copy, direct }) => !isSame(copy, direct));
}

function whatLdapSaid(
  { copy, direct }: Round,
  verdict: Verdict | undefined,
): string {
  const truth = verdict?.truth?.answer;
  if (!truth) {
    return verdict ? 'cannot say' : 'was not asked';
  }
  const said = [
    ...(isSame(copy, truth) ? ['the copy'] : []),
    ...(isSame(direct, truth) ? ['direct reads'] : []),
  ];
  return said.length > 0
    ? `as ${said.join(' and ')}`
    : around(truth, firstDifference([copy, truth]));
}

function sinceWrite({ askedAt, lastWrite }: Round): string {
  const { beganAt, endedAt } = lastWrite;
  const end =
    endedAt === undefined
      ? 'had not ended'
      : `ended ${time(askedAt - endedAt)} ms before`;
  return `the last write began ${time(askedAt - beganAt)} ms before, ${end}`;
}

/** The first place at which not all are the same. */
function firstDifference([one, ...others]: readonly ComparedAnswer[]): number {
  const at = one.text
    .split('')
    .findIndex((_, place) =>
      others.some(({ text }) => text[place] !== one.text[place]),
    );
  return at < 0 ? one.text.length : at;
}

/** The status, and what stands before and after a place. */
function around({ status, text }: ComparedAnswer, at: number): string {
  const shown = text.slice(Math.max(0, at - BEFORE), at + AFTER);
  return `${status} ${JSON.stringify(shown)}`;
}
