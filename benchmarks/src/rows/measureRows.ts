import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Credentials } from '../credentials/Credentials';
import type { ClosedLoop } from '../load/ClosedLoop';
import type { Portal } from '../portal/Portal';
import type { Question } from '../questions/Question';
import type { BenchOptions } from '../readOptions';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import { formatRow } from '../table/formatRows';
import type { MeasuredRealm } from '../withRealm';
import type { LdapTimes } from './LdapTimes';
import { measureRow } from './measureRow';
import type { Row } from './Row';
import { summarizeRow } from './summarizeRow';

/** What is asked, and who hears how it goes. */
export interface RowsRun
  extends Pick<BenchOptions, 'users' | 'modes' | 'profileTo'> {
  readonly questions: readonly Question[];
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

/** What is asked, and with what. */
export interface RowsSetup extends Pick<MeasuredRealm, 'people'> {
  readonly ldapTimes: LdapTimes;
  readonly portal: Portal;
  readonly loop: ClosedLoop;
  /** One for each mode. */
  readonly credentials: readonly Credentials[];
}

/** Measures a row for every question and every mode it is asked in. */
export async function measureRows(
  setup: RowsSetup,
  run: RowsRun,
): Promise<readonly Row[]> {
  const pairs = run.questions.flatMap(question =>
    setup.credentials
      .filter(({ mode }) => isMeasured(question, mode, run))
      .map(credentials => ({ question, credentials })),
  );
  for (const pair of pairs) {
    await warmUp(pair, setup, run);
  }
  run.tell('warmed up');
  const rows: Row[] = [];
  for (const pair of pairs) {
    rows.push(await rowOf(pair, setup, run));
  }
  return rows;
}

interface Pair {
  readonly question: Question;
  readonly credentials: Credentials;
}

function isMeasured(
  { modes = ['negotiate'] }: Question,
  mode: Credentials['mode'],
  run: RowsRun,
): boolean {
  return modes.includes(mode) && run.modes.includes(mode);
}

/**
 * Asks before anything is measured, so that no row is slow for being the first
 * one: the code that all share is compiled by then.
 */
async function warmUp(
  { question, credentials }: Pair,
  { loop }: RowsSetup,
  { signal }: RowsRun,
): Promise<void> {
  const random = new SeededRandom(settings.seed);
  const { usernames } = credentials;
  const count = settings.warmUpRequests;
  await question.prepare?.({ usernames, count });
  await credentials.prepare(count);
  await loop.run({
    credentials,
    connections: settings.connections,
    signal,
    draw: username => question.draw(random, username),
    ms: settings.warmUpMs,
  });
}

async function rowOf(
  { question, credentials }: Pair,
  setup: RowsSetup,
  { users, signal, tell, profileTo }: RowsRun,
): Promise<Row> {
  const ldapP50Ms = await setup.ldapTimes.of(question, signal);
  const random = new SeededRandom(settings.seed);
  const { mode } = credentials;
  const measurement = await measureRow(
    {
      ...setup,
      random,
      signal,
      profileTo:
        profileTo && (await profileFile(profileTo, `${mode}-${question.name}`)),
    },
    { question, credentials },
  );
  const row = summarizeRow({
    question,
    measurement,
    users,
    mode,
    people: setup.people.all.length,
    ldapP50Ms,
  });
  tell(formatRow(row));
  return row;
}

async function profileFile(folder: string, title: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = title.replace(/[^\w]+/g, '-').replace(/-+$/, '');
  return resolve(join(folder, `${name}.cpuprofile`));
}
