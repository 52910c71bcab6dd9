import { fork } from 'node:child_process';
import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Credential, Credentials } from '../credentials/Credentials';
import { SessionCredentials } from '../credentials/SessionCredentials';
import { describeMachine } from '../describeMachine';
import { Portal } from '../portal/Portal';
import { settings } from '../settings';
import { markdownTable } from '../table/markdownTable';
import { mebibytes, time } from '../table/numbers';
import { withRealm } from '../withRealm';
import { attacks, type AttackOptions, type Responses } from './attacks';

/*
 * `make trials`: starts a portal for each attack, attacks it, and measures the
 * requests of another caller and the memory of the portal's process.
 */

const USERS = 200;
const ATTACK_MS = 20_000;
/** Time between two requests of the other caller, in milliseconds. */
const INTERVAL_MS = 100;
/** Longest time to wait for a response of the other caller. */
const PATIENCE_MS = 60_000;

/** What the other caller noticed. */
interface Measured {
  /** Milliseconds from when a request was due to its response, in order. */
  readonly times: readonly number[];
  /** Responses other than 200, and requests without response. */
  readonly failed: number;
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort());
}

main().catch(error => {
  if (!interrupted.signal.aborted) {
    tell(error instanceof Error ? error.stack ?? error.message : String(error));
  }
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const { signal } = interrupted;
  const checkout = process.argv[2];
  const only = new RegExp(process.env.ONLY ?? '');
  const machine = describeMachine();
  const lines = await withRealm({ users: USERS, signal }, async measured => {
    const rows: string[][] = [];
    for (const name of Object.keys(attacks).filter(key => only.test(key))) {
      tell(name);
      rows.push([
        name,
        ...(await measureAttack(name, { ...measured, checkout })),
      ]);
    }
    return rows;
  });
  const head = ['attack', 'p50', 'p95', 'max', 'failed', 'memory', 'gain'];
  process.stdout.write(`
${checkout}
${machine.cpus} × ${machine.cpu}, Node ${machine.node}, load ${
    machine.load_before
  } before. Each attack: ${ATTACK_MS / 1000} s.
p50, p95, max: milliseconds of GET /api/directory/v1/me/ of another caller, ${
    1000 / INTERVAL_MS
  } requests/s; failed: those without a 200.
memory, gain: resident memory of the portal before the attack and its highest increase, MiB.

${markdownTable([[...head, 'responses to the attacker'], ...lines])}
`);
}

async function measureAttack(
  name: string,
  options: {
    readonly realm: Parameters<typeof Portal.start>[0]['realm'];
    readonly tickets: Credentials;
    readonly checkout: string;
  },
): Promise<string[]> {
  const { realm, tickets, checkout } = options;
  const { signal } = interrupted;
  const portal = await Portal.start({
    realm,
    checkout,
    variant: 'replica',
    cpu: settings.portalCpu,
  });
  const end = new AbortController();
  try {
    await portal.untilReady(signal);
    const { origin } = portal;
    const sessions = new SessionCredentials({ origin, tickets });
    await portal.until(() => sessions.prepare().then(() => true), { signal });
    const token = await portal.token();
    // The first requests compile code.
    await callUntil(AbortSignal.timeout(2000), origin, sessions.next());
    const before = await portal.residentBytes();

    const calls = callUntil(end.signal, origin, sessions.next());
    // A portal that dies has no memory to read.
    const highest = highestUntil(end.signal, portal).catch(() => NaN);
    const responses = await attack({ name, origin, token });
    end.abort();
    const { times, failed } = await calls;
    const at = (share: number) =>
      times.length === 0
        ? '?'
        : time(times[Math.ceil(share * times.length) - 1]);
    return [
      at(0.5),
      at(0.95),
      at(1),
      `${failed} of ${times.length + failed}`,
      mebibytes(before),
      mebibytes(Math.max(0, (await highest) - before)),
      Object.entries(responses)
        .map(([response, count]) => `${count} × ${response}`)
        .join(', '),
    ];
  } finally {
    end.abort();
    await portal.stop();
  }
}

/** Attacks for a while, from a process of its own. */
async function attack(options: AttackOptions): Promise<Responses> {
  const attacker = fork(require.resolve('./attacks'));
  try {
    attacker.send(options);
    await sleep(ATTACK_MS, undefined, { signal: interrupted.signal });
    const signal = AbortSignal.any([
      interrupted.signal,
      AbortSignal.timeout(PATIENCE_MS),
    ]);
    const messages = on(attacker, 'message', { signal });
    attacker.send('end');
    // Backstage's loader sends messages of its own.
    for await (const [{ responses }] of messages) {
      if (responses) {
        return responses;
      }
    }
    throw new Error('The attacker did not report');
  } finally {
    attacker.kill('SIGKILL');
  }
}

/**
 * Sends a request when one is due, whether or not the ones before have been
 * answered, and waits for all responses.
 */
async function callUntil(
  signal: AbortSignal,
  origin: string,
  { headers }: Credential,
): Promise<Measured> {
  const pool = new Pool(origin, {
    connections: PATIENCE_MS / INTERVAL_MS,
    headersTimeout: PATIENCE_MS,
    pipelining: 1,
  });
  const times: number[] = [];
  let failed = 0;
  const call = async (due: number) => {
    try {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: '/api/directory/v1/me/',
        headers,
      });
      await body.dump();
      if (statusCode === 200) {
        times.push(performance.now() - due);
      } else {
        failed += 1;
      }
    } catch {
      failed += 1;
    }
  };
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let due = start; !signal.aborted; due += INTERVAL_MS) {
    calls.push(call(due));
    await sleep(Math.max(0, due + INTERVAL_MS - performance.now()));
  }
  await Promise.all(calls);
  await pool.destroy();
  return { times: times.sort((a, b) => a - b), failed };
}

async function highestUntil(
  signal: AbortSignal,
  portal: Portal,
): Promise<number> {
  let highest = 0;
  do {
    highest = Math.max(highest, await portal.residentBytes());
    await sleep(INTERVAL_MS);
  } while (!signal.aborted);
  return highest;
}

function tell(line: string): void {
  process.stderr.write(`trials: ${line}\n`);
}
