import type { Portal } from './portal/Portal';
import { certificateQuestions } from './questions/certificateQuestions';
import { groupQuestions } from './questions/groupQuestions';
import type { Question } from './questions/Question';
import { searchQuestions } from './questions/searchQuestions';
import { userQuestions } from './questions/userQuestions';
import type { BenchOptions, Reads } from './readOptions';
import { issueCertificates } from './requests/issueCertificates';
import type { Results } from './Results';
import { LdapTimes } from './rows/LdapTimes';
import type { Row } from './rows/Row';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { GUEST, measureWay } from './ways/measureWay';
import { measureWithoutPlugin } from './ways/measureWithoutPlugin';
import type { WayResult } from './ways/WayResult';
import { withRealm, type MeasuredRealm } from './withRealm';

/** A run's options, how to end it, and who hears how it goes. */
export interface BenchRun extends BenchOptions {
  readonly signal: AbortSignal;
  /** Told in a line about every step and every row. */
  readonly tell: (line: string) => void;
}

/**
 * Starts a realm, measures one portal after another on it and ends all.
 *
 * @throws Error when an answer is wrong or a server does not start
 */
export async function runBench(run: BenchRun): Promise<Results> {
  return withRealm(run, async measured => {
    const { people } = measured;
    run.tell(
      `${people.all.length} users, ${people.groups.length} groups are served`,
    );
    const ldapTimes = new LdapTimes(measured);
    const rows: Row[] = [];
    const ways: WayResult[] = [];
    for (const reads of run.reads) {
      const { rows: some, way } = await measureWay(
        { ...measured, ldapTimes },
        {
          ...{ ...run, reads, modes: modesOf(reads, run) },
          questions: portal =>
            questionsFor(reads, { ...measured, portal }, run),
        },
      );
      rows.push(...some);
      ways.push(way);
    }
    if (run.profileTo) {
      return { rows, ways };
    }
    run.tell('the same server without the plugin');
    const requests = Math.max(...ways.map(way => way.requests));
    ways.push(await measureWithoutPlugin(measured, { ...run, requests }));
    return { rows, ways };
  });
}

/** Beside the copy, direct reads are only asked what has a goal, by ticket. */
function isBeside(reads: Reads, run: BenchRun): boolean {
  return reads === 'direct' && run.reads.length > 1;
}

function modesOf(reads: Reads, run: BenchRun): BenchRun['modes'] {
  return isBeside(reads, run) && run.modes.includes('negotiate')
    ? ['negotiate']
    : run.modes;
}

function questionsFor(
  reads: Reads,
  { people, portal }: MeasuredRealm & { readonly portal: Portal },
  run: BenchRun,
): readonly Question[] {
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
  ].filter(
    ({ name, goals }) =>
      run.only.test(name) && (goals || !isBeside(reads, run)),
  );
}
