import { negotiate, signIn, type CredentialKind } from './credentials';
import { ratioInterval, type RatioInterval } from './interval';
import { send } from './load';
import type { MeasuredPortal } from './MeasuredPortal';
import type { BenchmarkRow } from './rows';

/** A row of the table and of `results.json`. */
export interface RowResult extends RatioInterval {
  readonly name: string;
  readonly credential: CredentialKind;
  /** Requests per second, mean of the rounds. */
  readonly rate: number;
  /** The same for the bare route of the same process. */
  readonly routeRate: number;
  readonly rounds: number;
  readonly goal?: number;
  /** CPU time of the portal for a request. */
  readonly cpuUs: number;
}

/** Concurrent connections under load. */
const CONNECTIONS = 16;
const ROUND_S = 0.5;
const MIN_ROUNDS = 6;
/** Rounds are repeated until the ratio is known this well. */
const MAX_MARGIN = 0.05;
/** Number of requests before the measurement. */
const WARM_UP = 500;

/**
 * Measures a row in turn with the bare route, which returns constant JSON of
 * the same length, after accepting the SPNEGO token if the row has one.
 *
 * @throws Error when a response is not a 200
 */
export async function measureRow(options: {
  readonly row: BenchmarkRow;
  readonly credential: CredentialKind;
  /** User names of the callers, who send requests in turn. */
  readonly callers: readonly string[];
  readonly portal: MeasuredPortal;
  readonly maxRounds: number;
}): Promise<RowResult> {
  const { row, credential, callers, portal, maxRounds } = options;
  const { origin } = portal;
  const isNegotiated = credential === 'SPNEGO token';
  const sessions = isNegotiated ? [] : await signIn(portal, callers);

  async function run(request: BenchmarkRow['request'], amount: number) {
    // Tokens and CSRs are created before the first request.
    const repeat = <T>(list: readonly T[]) =>
      Array.from({ length: amount }, (_, index) => list[index % list.length]);
    const credentials = isNegotiated
      ? await negotiate(portal, repeat(callers))
      : repeat(sessions);
    const requests = credentials.map(({ username, headers }) => {
      const each = request(username);
      return { ...each, headers: { ...each.headers, ...headers } };
    });
    const limit = { amount };
    const next = () => requests.pop()!;
    const { cpuMs } = await portal.usage();
    const sample = await send({
      origin,
      connections: CONNECTIONS,
      limit,
      next,
    });
    const usedMs = (await portal.usage()).cpuMs - cpuMs;
    if (sample.errors.length > 0) {
      throw new Error(sample.errors[0]);
    }
    return { ...sample, cpuUs: (1000 * usedMs) / amount };
  }

  const { bytes } = await run(row.request, WARM_UP);
  const path = isNegotiated ? 'accept' : 'constant';
  const constant = {
    path: `/api/benchmark/${path}?size=${Math.round(bytes)}`,
  };
  /** The row and the bare route, with the numbers of requests of a round. */
  const both = [];
  for (const request of [row.request, () => constant]) {
    const { rate } = await run(request, WARM_UP);
    both.push({ request, amount: Math.round(rate * ROUND_S) + CONNECTIONS });
  }
  const pairs: [rate: number, routeRate: number][] = [];
  const cpuTimes: number[] = [];
  let interval: RatioInterval = { ratio: NaN, margin: Infinity };
  while (
    pairs.length < MIN_ROUNDS ||
    (interval.margin > MAX_MARGIN && pairs.length < maxRounds)
  ) {
    const pair: [number, number] = [NaN, NaN];
    // Each is the first one in turn.
    for (const at of pairs.length % 2 === 0 ? [0, 1] : [1, 0]) {
      const { rate, cpuUs } = await run(both[at].request, both[at].amount);
      pair[at] = rate;
      if (at === 0) {
        cpuTimes.push(cpuUs);
      }
    }
    pairs.push(pair);
    interval = ratioInterval(pairs);
  }
  const { name, goal } = row;
  return {
    name,
    credential,
    rate: mean(pairs.map(([rate]) => rate)),
    routeRate: mean(pairs.map(([, routeRate]) => routeRate)),
    ...interval,
    rounds: pairs.length,
    goal,
    cpuUs: mean(cpuTimes),
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
