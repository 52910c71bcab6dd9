import type { CredentialKind, Credentials } from './Credentials';
import {
  checkGoal,
  ratioInterval,
  type RatioInterval,
  type Verdict,
} from './interval';
import { send, type LoadRequest } from './load';
import type { Portal } from './Portal';
import type { Row } from './rows';

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
  readonly verdict?: Verdict;
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
 * @throws Error when a response is wrong
 */
export async function measureRow(options: {
  readonly row: Row;
  readonly credential: CredentialKind;
  readonly credentials: Credentials;
  readonly portal: Portal;
  readonly maxRounds: number;
  readonly signal: AbortSignal;
}): Promise<RowResult> {
  const { row, credential, credentials, portal, maxRounds, signal } = options;
  const { origin } = portal;

  async function run(request: Row['request'], amount: number) {
    // Tokens and CSRs are created before the first request.
    const requests = (await credentials.take(credential, amount)).map(
      ({ username, headers }) => {
        const each = request(username);
        return { ...each, headers: { ...each.headers, ...headers } };
      },
    );
    const limit = { amount };
    const connections = CONNECTIONS;
    const next = () => requests.pop()!;
    const { cpuMs } = await portal.usage();
    const sample = await send({ origin, connections, limit, next, signal });
    const usedMs = (await portal.usage()).cpuMs - cpuMs;
    if (sample.errors.length > 0) {
      throw new Error(sample.errors[0]);
    }
    return { ...sample, cpuUs: (1000 * usedMs) / amount };
  }

  const warm = await run(row.request, WARM_UP);
  const { username } = await portal.guest();
  const path = credential === 'SPNEGO token' ? 'accept' : 'constant';
  const example: LoadRequest = {
    ...row.request(username),
    path: `/api/benchmark/${path}?size=${Math.round(warm.bytes)}`,
    expected: '{"result":"',
  };
  const route = () => example;
  const warmRoute = await run(route, WARM_UP);

  const amount = Math.round(warm.rate * ROUND_S) + CONNECTIONS;
  const routeAmount = Math.round(warmRoute.rate * ROUND_S) + CONNECTIONS;
  const rowRates: number[] = [];
  const routeRates: number[] = [];
  const cpuTimes: number[] = [];
  const measureRate = async () => {
    const { rate, cpuUs } = await run(row.request, amount);
    rowRates.push(rate);
    cpuTimes.push(cpuUs);
  };
  const measureRoute = async () => {
    routeRates.push((await run(route, routeAmount)).rate);
  };
  let interval: RatioInterval = { ratio: NaN, margin: Infinity };
  while (
    rowRates.length < MIN_ROUNDS ||
    (interval.margin > MAX_MARGIN && rowRates.length < maxRounds)
  ) {
    // Each is the first one in turn.
    const isRowFirst = rowRates.length % 2 === 0;
    await (isRowFirst ? measureRate() : measureRoute());
    await (isRowFirst ? measureRoute() : measureRate());
    interval = ratioInterval(
      rowRates.map((rate, at) => [rate, routeRates[at]]),
    );
  }

  const { name, goal } = row;
  return {
    name,
    credential,
    rate: mean(rowRates),
    routeRate: mean(routeRates),
    ...interval,
    rounds: rowRates.length,
    goal,
    verdict: goal === undefined ? undefined : checkGoal(interval, goal),
    cpuUs: mean(cpuTimes),
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
