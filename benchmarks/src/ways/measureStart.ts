import type { NegotiateCredentials } from '../credentials/NegotiateCredentials';
import { ClosedLoop } from '../load/ClosedLoop';
import type { Portal } from '../portal/Portal';
import type { Question } from '../questions/Question';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import type { StartResult } from './WayResult';

/** Enough for the requests during a start of half a minute. */
const TICKETS = 500;

/**
 * Sends a request to a portal that was just started until the response is right,
 * then waits for the replica's first sync.
 *
 * @throws Error when it does not answer in a minute
 */
export async function measureStart(options: {
  /** Starts it. */
  readonly start: () => Promise<Portal>;
  /** About one user. */
  readonly question: Question;
  readonly tickets: NegotiateCredentials;
  readonly signal: AbortSignal;
}): Promise<{ readonly portal: Portal; readonly result: StartResult }> {
  const { question, tickets, signal } = options;
  const random = new SeededRandom(settings.seed);
  await tickets.prepare(TICKETS);
  const portal = await options.start();
  try {
    await portal.until(
      () => answersRight(portal, { question, tickets, random, signal }),
      { signal },
    );
    const firstAnswerMs = performance.now() - portal.startedAt;
    await portal.vitals();
    await portal.untilCopied(signal, settings.copyPatienceMs);
    const copiedMs = performance.now() - portal.startedAt;
    const { eventLoopDelayMs, maxEventLoopDelayMs } = await portal.vitals();
    await portal.untilReady(signal);
    return {
      portal,
      result: {
        firstAnswerMs,
        copiedMs,
        loopDelayMs: eventLoopDelayMs,
        maxLoopDelayMs: maxEventLoopDelayMs,
      },
    };
  } catch (error) {
    await portal.stop();
    throw error;
  }
}

async function answersRight(
  { origin }: Portal,
  asking: {
    readonly question: Question;
    readonly tickets: NegotiateCredentials;
    readonly random: SeededRandom;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { question, tickets, random, signal } = asking;
  // A slow start takes more than were made before it.
  await tickets.prepare(1);
  const loop = new ClosedLoop({ origin, connections: 1 });
  try {
    const { requests } = await loop.run({
      credentials: tickets,
      draw: username => question.draw(random, username),
      connections: 1,
      ms: 1,
      signal,
    });
    return requests > 0;
  } finally {
    await loop.close();
  }
}
