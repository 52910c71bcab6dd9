import { measureAge } from '../age/measureAge';
import { SessionCredentials } from '../credentials/SessionCredentials';
import { TokenCredentials } from '../credentials/TokenCredentials';
import { ClosedLoop } from '../load/ClosedLoop';
import { Portal } from '../portal/Portal';
import type { Question } from '../questions/Question';
import { userQuestions } from '../questions/userQuestions';
import type { LdapTimes } from '../rows/LdapTimes';
import { measureRows, type RowsRun } from '../rows/measureRows';
import type { Row } from '../rows/Row';
import { settings } from '../settings';
import type { MeasuredRealm } from '../withRealm';
import { measureStart } from './measureStart';
import type { WayResult } from './WayResult';

/** Whom app-config.bench.yaml signs in as a guest. */
export const GUEST = 'alice';

/** Options of the rows, whose requests depend on the portal. */
export interface WayRun extends Omit<RowsRun, 'questions'> {
  /** What is asked; some of it has to be made by the portal first. */
  readonly questions: (portal: Portal) => readonly Question[];
}

/**
 * Starts a portal, measures its start, rows, write visibility and memory, and
 * stops it.
 *
 * @throws Error when an answer is wrong or the portal does not start
 */
export async function measureWay(
  measured: MeasuredRealm & { readonly ldapTimes: LdapTimes },
  run: WayRun,
): Promise<{ readonly rows: readonly Row[]; readonly way: WayResult }> {
  const { realm, people, tickets } = measured;
  const { signal } = run;
  const { portal, result: start } = await measureStart({
    tickets,
    signal,
    question: userQuestions(people)[0],
    start: () =>
      Portal.start({ realm, variant: 'replica', cpu: settings.portalCpu }),
  });
  const { origin } = portal;
  const loop = new ClosedLoop({ origin, connections: settings.connections });
  try {
    const memoryAtStart = await portal.memory();
    const token = new TokenCredentials({
      token: await portal.token(),
      username: GUEST,
    });
    const session = new SessionCredentials({ origin, tickets });
    const rows = await measureRows(
      { ...measured, portal, loop, credentials: [session, tickets, token] },
      { ...run, questions: run.questions(portal) },
    );
    // A profile slows everything: only its rows are of interest then.
    const ages = run.profileTo
      ? null
      : await measureAge(
          { realm, people, portal, loop, credentials: token },
          { signal },
        );
    const memoryAfterLoad = await portal.memory();
    const { requests } = loop;
    return {
      rows,
      way: {
        variant: 'replica',
        start,
        requests,
        memoryAtStart,
        memoryAfterLoad,
        ages,
      },
    };
  } finally {
    await loop.close();
    await portal.stop();
  }
}
