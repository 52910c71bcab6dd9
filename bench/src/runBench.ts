import { askDirectory } from './askDirectory';
import { formatRow } from './formatTable';
import { measureRow } from './measureRow';
import { milliseconds } from './milliseconds';
import { certificateQuestions } from './questions/certificateQuestions';
import { groupQuestions } from './questions/groupQuestions';
import type { Question } from './questions/Question';
import { searchQuestions } from './questions/searchQuestions';
import { userQuestions } from './questions/userQuestions';
import type { BenchOptions } from './readOptions';
import { issueCertificates } from './requests/issueCertificates';
import type { Results } from './Results';
import type { Row } from './Row';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { GUEST, withSetup, type Setup } from './Setup';
import { summarizeRow } from './summarizeRow';

/** A run's options, how to end it, and who hears how it goes. */
export interface BenchRun extends BenchOptions {
  readonly signal: AbortSignal;
  /** Told in a line about every step and every row. */
  readonly tell: (line: string) => void;
}

/**
 * Starts a realm and a portal, measures every row and ends both.
 *
 * @throws Error when an answer is wrong or a server does not start
 */
export async function runBench(run: BenchRun): Promise<Results> {
  return withSetup(run, async setup => {
    const { people, portal } = setup;
    run.tell(
      `${people.all.length} users, ${people.groups.length} groups are served`,
    );
    const idle = await portal.vitals();
    const questions = questionsAbout(setup).filter(({ name }) =>
      run.only.test(name),
    );
    for (const question of questions) {
      await warmUp(question, setup, run);
    }
    run.tell('warmed up');
    const rows: Row[] = [];
    for (const question of questions) {
      rows.push(...(await rowsOf(question, setup, run)));
    }
    const loaded = await portal.vitals();
    return { rows, rss: { idle: idle.rssBytes, loaded: loaded.rssBytes } };
  });
}

function questionsAbout({ people, portal }: Setup): readonly Question[] {
  const random = new SeededRandom(settings.seed);
  return [
    ...userQuestions(people),
    ...groupQuestions(people),
    ...searchQuestions(people, random),
    ...certificateQuestions({
      issue: () =>
        issueCertificates({
          ...{ portal, username: GUEST },
          count: settings.certificates,
        }),
    }),
  ];
}

/**
 * Asks before anything is measured, so that no row is slow for being the first
 * one: the code that all share is compiled by then.
 */
async function warmUp(
  question: Question,
  { credentials, loop }: Setup,
  { signal }: BenchRun,
): Promise<void> {
  const random = new SeededRandom(settings.seed);
  for (const each of credentials) {
    await question.prepare?.({
      usernames: each.usernames,
      count: settings.warmUpRequests,
    });
    await each.prepare(settings.warmUpRequests);
    await loop.run({
      credentials: each,
      draw: username => question.draw(random, username),
      connections: settings.connections,
      ms: settings.warmUpMs,
      signal,
    });
  }
}

/** One row a mode, each beside the directory's own answer. */
async function rowsOf(
  question: Question,
  setup: Setup,
  { signal, tell }: BenchRun,
): Promise<readonly Row[]> {
  const { directory, people } = setup;
  const random = new SeededRandom(settings.seed);
  const direct = await askDirectory({
    ...{ directory, signal },
    draw: () => question.draw(random, random.pick(people.usernames)),
    ms: settings.directMs,
    atLeast: settings.directTimes,
  });
  const rows: Row[] = [];
  for (const credentials of setup.credentials) {
    const measurement = await measureRow(
      { ...setup, random, signal },
      { question, credentials },
    );
    const row = summarizeRow({
      ...{ question, measurement, mode: credentials.mode },
      people: people.all.length,
      directP50Ms: direct ? milliseconds(direct, 50) : null,
    });
    tell(formatRow(row));
    rows.push(row);
  }
  return rows;
}
