import { askDirectory } from './askDirectory';
import { formatRow } from './formatTable';
import { measureRow } from './measureRow';
import { milliseconds } from './milliseconds';
import type { People } from './People';
import { groupQuestions } from './questions/groupQuestions';
import type { Question } from './questions/Question';
import { searchQuestions } from './questions/searchQuestions';
import { userQuestions } from './questions/userQuestions';
import type { BenchOptions } from './readOptions';
import type { Results } from './Results';
import type { Row } from './Row';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { withSetup, type Setup } from './Setup';
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
    const questions = questionsAbout(people).filter(({ name }) =>
      run.only.test(name),
    );
    const rows: Row[] = [];
    for (const question of questions) {
      rows.push(...(await rowsOf(question, setup, run)));
    }
    const loaded = await portal.vitals();
    return { rows, rss: { idle: idle.rssBytes, loaded: loaded.rssBytes } };
  });
}

function questionsAbout(people: People): readonly Question[] {
  const random = new SeededRandom(settings.seed);
  return [
    ...userQuestions(people),
    ...groupQuestions(people),
    ...searchQuestions(people, random),
  ];
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
      directP50Ms: milliseconds(direct, 50),
    });
    tell(formatRow(row));
    rows.push(row);
  }
  return rows;
}
