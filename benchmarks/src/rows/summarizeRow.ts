import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Mode } from '../credentials/Credentials';
import { rate, type Measurement, type Round } from './measureRow';
import { GOAL_PEOPLE } from '../questions/goals';
import { median } from './median';
import { milliseconds } from '../load/milliseconds';
import type { Question } from '../questions/Question';
import type { Row } from './Row';

/** What the rounds of a row come to. */
export function summarizeRow(options: {
  readonly question: Question;
  readonly mode: Mode;
  /** How many the realm was asked to have. */
  readonly users: number;
  readonly people: number;
  readonly measurement: Measurement;
  /** `null` when the directory does not know the answer. */
  readonly ldapP50Ms: number | null;
}): Row {
  const { question, mode, people, measurement } = options;
  const { name, goals } = question;
  const { connections, rounds } = measurement;
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const rates = rounds.map(({ loaded }) => rate(loaded));
  const loaded = merge(rounds.map(round => round.loaded.latencies));
  const alone = merge(rounds.map(round => round.alone.latencies));
  const goal = options.users === GOAL_PEOPLE ? goals?.[mode] : undefined;
  return {
    name,
    people,
    reads: 'replica',
    mode,
    connections,
    rps: median(rates),
    rps_min: Math.min(...rates),
    rps_max: Math.max(...rates),
    p50_ms: milliseconds(alone, 50),
    p99_ms: milliseconds(alone, 99),
    samples: alone.count,
    load_p50_ms: milliseconds(loaded, 50),
    load_p99_ms: milliseconds(loaded, 99),
    ldap_p50_ms: options.ldapP50Ms,
    goal_rps: goal?.rps ?? null,
    goal_p50_ms: goal?.p50Ms ?? null,
    portal_cpu_us: middle(
      round => (1000 * round.portalCpuMs) / round.loaded.requests,
    ),
    portal_cpu: middle(
      round => round.portalCpuMs / 1000 / round.loaded.seconds,
    ),
    noise_cpu: middle(({ noise }) => noise),
    generator_cpu: middle(({ generatorCpu }) => generatorCpu),
    event_loop_delay_p99_ms: middle(({ eventLoopDelayMs }) => eventLoopDelayMs),
  };
}

function merge(histograms: readonly RecordableHistogram[]) {
  const merged = createHistogram();
  histograms.forEach(histogram => merged.add(histogram));
  return merged;
}
