import type { Portal } from './portal/Portal';
import { certificateQuestions } from './questions/certificateQuestions';
import { groupQuestions } from './questions/groupQuestions';
import type { Question } from './questions/Question';
import { searchQuestions } from './questions/searchQuestions';
import { userQuestions } from './questions/userQuestions';
import type { BenchOptions } from './readOptions';
import { issueCertificates } from './requests/issueCertificates';
import type { Results } from './Results';
import { LdapTimes } from './rows/LdapTimes';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { GUEST, measureWay } from './ways/measureWay';
import { measureWithoutPlugin } from './ways/measureWithoutPlugin';
import { withRealm, type MeasuredRealm } from './withRealm';

/** A run's options, how to end it, and who hears how it goes. */
export interface BenchRun extends BenchOptions {
  readonly signal: AbortSignal;
  /** Told in a line about every step and every row. */
  readonly tell: (line: string) => void;
}

/**
 * Starts a realm, measures the portal and the same server without the directory
 * plugin on it, and stops all.
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
    const { rows, way } = await measureWay(
      { ...measured, ldapTimes },
      {
        ...run,
        questions: portal => questionsFor({ ...measured, portal }, run),
      },
    );
    if (run.profileTo) {
      return { rows, ways: [way] };
    }
    run.tell('the same server without the plugin');
    const { requests } = way;
    const without = await measureWithoutPlugin(measured, { ...run, requests });
    return { rows, ways: [way, without] };
  });
}

function questionsFor(
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
          portal,
          username: GUEST,
          count: settings.certificates,
        }),
    }),
  ].filter(({ name }) => run.only.test(name));
}
