import type { ClosedLoop, Sample } from '../load/ClosedLoop';
import { CpuMeter } from '../load/CpuMeter';
import type { Credentials } from '../credentials/Credentials';
import type { Portal } from '../portal/Portal';
import type { Question } from '../questions/Question';
import type { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import { milliseconds } from '../load/milliseconds';

/** What every row is measured with. */
export interface Instruments {
  readonly portal: Portal;
  readonly loop: ClosedLoop;
  readonly random: SeededRandom;
  readonly signal: AbortSignal;
  /** A file for a CPU profile of the portal in the rounds under load. */
  readonly profileTo?: string;
}

/** The rounds of a row. */
export interface Measurement {
  /** How many connections the load came on. */
  readonly connections: number;
  readonly rounds: readonly Round[];
}

/** One round: under load, then on one connection. */
export interface Round {
  readonly loaded: Sample;
  readonly alone: Sample;
  /** Under load, the portal's time on its CPU, in milliseconds. */
  readonly portalCpuMs: number;
  /** Under load, the share of the portal's CPU that others used, 0 to 1. */
  readonly noise: number;
  /** Under load, how busy the load generator's CPU was, 0 to 1. */
  readonly generatorCpu: number;
  readonly eventLoopDelayMs: number;
}

/** More credentials than the fastest run so far would use. */
const HEADROOM = 1.3;
/** Enough for the warm-up, which may end early. */
const FIRST_CREDENTIALS = 1000;

/**
 * Measures one kind of request in one mode: a warm-up, then rounds, each of
 * them under load and on one connection, so that what else happens on the
 * machine shows as a spread and not in one of the two.
 */
export async function measureRow(
  { portal, loop, random, signal, profileTo }: Instruments,
  options: { readonly question: Question; readonly credentials: Credentials },
): Promise<Measurement> {
  const { question, credentials } = options;
  const draw = (username: string) => question.draw(random, username);
  const run = (on: number, ms: number) =>
    loop.run({ credentials, draw, signal, connections: on, ms });

  const { usernames } = credentials;
  const prepare = async (count: number) => {
    await question.prepare?.({ usernames, count });
    await credentials.prepare(count);
  };

  await prepare(FIRST_CREDENTIALS);
  // What the portal reads once is read now, and does not count as its speed.
  await run(1, 1);
  const connections = connectionsFor(await run(1, settings.singleMs));
  const warm = await run(connections, settings.warmUpMs);
  let fastest = rate(warm);
  const rounds: Round[] = [];
  if (profileTo) {
    await portal.startProfile();
  }
  while (rounds.length < settings.rounds) {
    const seconds = (settings.loadMs + settings.singleMs) / 1000;
    await prepare(Math.ceil(fastest * seconds * HEADROOM));
    const load = await observe(portal, () => run(connections, settings.loadMs));
    fastest = Math.max(fastest, rate(load.loaded));
    rounds.push({ ...load, alone: await run(1, settings.singleMs) });
  }
  if (profileTo) {
    await portal.stopProfile(profileTo);
  }
  return { connections, rounds };
}

function connectionsFor({ latencies }: Sample): number {
  const p50 = milliseconds(latencies, 50);
  const bearable = Math.floor(settings.maxQueueMs / p50);
  return Math.min(settings.connections, Math.max(1, bearable));
}

/** Requests a second. */
export function rate({ requests, seconds }: Sample): number {
  return requests / seconds;
}

async function observe(
  portal: Portal,
  run: () => Promise<Sample>,
): Promise<Omit<Round, 'alone'>> {
  await portal.vitals();
  const portalMeter = new CpuMeter(settings.portalCpu);
  const generatorMeter = new CpuMeter(settings.generatorCpu);
  const loaded = await run();
  const busy = portalMeter.lap();
  const generatorCpu = generatorMeter.lap();
  const { cpuMs: portalCpuMs, eventLoopDelayMs } = await portal.vitals();
  const portalCpu = portalCpuMs / 1000 / loaded.seconds;
  const noise = Math.max(0, busy - portalCpu);
  return { loaded, portalCpuMs, noise, generatorCpu, eventLoopDelayMs };
}
