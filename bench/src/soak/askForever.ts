import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from '../credentials/Credentials';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import { compareAnswers, type ComparedAnswer } from './AnswerComparison';
import { drawSoakQuestion } from './drawSoakQuestion';
import { findExposed } from './findExposed';
import type { SoakCallers } from './SoakCallers';
import type { SoakPortal } from './SoakPortal';
import type { SoakQuestion } from './SoakQuestion';
import type { SoakWriter } from './SoakWriter';
import type { Tally } from './Tally';

/** What is asked with, and what is told of it. */
export interface Soak {
  readonly copy: SoakPortal;
  readonly direct: SoakPortal;
  readonly callers: SoakCallers;
  readonly writer: SoakWriter;
  readonly people: People;
  readonly random: SeededRandom;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** One request of so many shows a ticket. */
const TICKET_EACH = 4;
/** Between two questions of who does not compare, in milliseconds. */
const PAUSE_MS = 2;
/** What is written shows within this time, in milliseconds. */
const SHOWS_MS = 1000;
/**
 * In lists of direct reads what is gone stays for up to forty times as long as
 * reading all names takes (ldap-operations.md): 3 s on a busy machine.
 */
const REMOVAL_SHOWS_MS = 150_000;
const BY_NAME = /^\/me\/$|^\/users\/[^/?]+\/|\/is-member\//;
/** Whatever is asked: nobody is refused, and nothing is asked amiss. */
const STATUSES = new Set([200, 403, 404]);

/** Puts one question after another to both, and compares. */
export async function compareForever(soak: Soak): Promise<void> {
  const { copy, direct, writer, tally, signal } = soak;
  while (!signal.aborted) {
    const question = drawQuestion(soak);
    const credential = await drawCredential(soak);
    const { username } = credential;
    let isFirst = true;
    const comparison = await compareAnswers(
      {
        copy: async () => {
          const known = isFirst ? credential : copy.credentialOf(username);
          isFirst = false;
          return askCopy(soak, question, known);
        },
        direct: () => direct.ask(question, direct.credentialOf(username)),
      },
      { judge: at => judge(question, { at, writer }), signal },
    );
    const { path } = question;
    tally.hasCompared(
      { path: `${username} ${path}`, isList: !BY_NAME.test(path) },
      comparison,
    );
  }
}

function judge(
  { path }: SoakQuestion,
  { at, writer }: { readonly at: number; readonly writer: SoakWriter },
): 'wait' | 'wrong' | 'undecided' {
  if (!BY_NAME.test(path) && at - writer.lastRemovalAt < REMOVAL_SHOWS_MS) {
    return 'undecided';
  }
  return at - writer.lastWriteAt > SHOWS_MS ? 'wrong' : 'wait';
}

/** Asks the copy alone, faster than the directory could. */
export async function loadForever(soak: Soak): Promise<void> {
  while (!soak.signal.aborted) {
    await askCopy(soak, drawQuestion(soak), await drawCredential(soak));
    await sleep(PAUSE_MS);
  }
}

function drawQuestion({ random, people, writer }: Soak): SoakQuestion {
  return drawSoakQuestion({ random, people, written: writer.written });
}

async function drawCredential(soak: Soak): Promise<Credential> {
  const { random, callers, copy } = soak;
  return random.below(TICKET_EACH) === 0
    ? callers.ticket()
    : copy.credentialOf(random.pick(callers.everybody));
}

async function askCopy(
  { copy, tally }: Soak,
  question: SoakQuestion,
  credential: Credential,
): Promise<ComparedAnswer> {
  const { path } = question;
  const answer = await copy.ask(question, credential);
  tally.answered(path, answer.status);
  if (answer.status < 500 && !STATUSES.has(answer.status)) {
    tally.isWrong(`${path} answered ${answer.status}: ${answer.text}`);
  }
  for (const exposed of findExposed(answer.text, credential.username)) {
    tally.isWrong(`${path} shows ${exposed} to ${credential.username}`);
  }
  return answer;
}
