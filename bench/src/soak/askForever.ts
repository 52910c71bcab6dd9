import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from '../credentials/Credentials';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import { compareAnswers } from './AnswerComparison';
import type { ComparedAnswer } from './ComparedAnswer';
import { drawSoakQuestion } from './drawSoakQuestion';
import { findExposed } from './findExposed';
import type { LdapTruth } from './LdapTruth';
import type { Rest } from './Rest';
import type { SoakCallers } from './SoakCallers';
import type { SoakPortal } from './SoakPortal';
import type { SoakQuestion } from './SoakQuestion';
import type { SoakWriter } from './SoakWriter';
import type { Tally } from './Tally';

/** What is asked with, and what is told of it. */
export interface Soak {
  readonly copy: SoakPortal;
  readonly direct: SoakPortal;
  readonly ldap: LdapTruth;
  readonly callers: SoakCallers;
  readonly writer: SoakWriter;
  readonly people: People;
  readonly random: SeededRandom;
  readonly rest: Rest;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** One request of so many shows a ticket. */
const TICKET_EACH = 4;
/** Between two questions of who does not compare, in milliseconds. */
const PAUSE_MS = 2;
/** For so long answers are held against LDAP at a time, in milliseconds. */
const PROVING_MS = 3000;
/** Whatever is asked: nobody is refused, and nothing is asked amiss. */
const STATUSES = new Set([200, 403, 404]);

/** Puts one question after another to both, and compares. */
export async function compareForever(soak: Soak): Promise<void> {
  const { copy, direct, ldap, rest, tally, signal } = soak;
  while (!signal.aborted) {
    await rest.isOver(signal);
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
        ldap: {
          lastUsn: () => ldap.lastUsn(),
          ask: () => ldap.ask(question, username),
          recall: usn => ldap.recall(usn, question, username),
        },
      },
      soak,
    );
    tally.hasCompared({ ...question, username }, comparison);
  }
}

/**
 * Reads all entries while nothing is written, and leaves it so for a while:
 * what is compared meanwhile is held against LDAP, too, so that the copy and
 * direct reads cannot err alike.
 */
export async function holdAgainstLdap({
  writer,
  ldap,
  signal,
}: Pick<Soak, 'writer' | 'ldap' | 'signal'>): Promise<void> {
  await writer.whileHeld(async () => {
    await ldap.refresh();
    await sleep(PROVING_MS, undefined, { signal });
  });
}

/** Asks the copy alone, faster than the directory could. */
export async function loadForever(soak: Soak): Promise<void> {
  const { rest, signal } = soak;
  while (!signal.aborted) {
    await rest.isOver(signal);
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
