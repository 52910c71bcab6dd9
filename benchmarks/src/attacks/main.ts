import { fork } from 'node:child_process';
import { on } from 'node:events';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { spreadOf } from '../ClosedLoop';
import {
  SessionCredentials,
  type Credential,
} from '../credentials/credentials';
import { Portal } from '../portal/Portal';
import { runProgram, signal as interrupted } from '../run';
import { markdownTable, mebibytes, milliseconds } from '../tables';
import { withRealm, type MeasuredRealm } from '../withRealm';
import { attacks, type AttackOptions, type Responses } from './attacks';

/*
 * `make trials ONLY=attacks`: starts a portal for each attack, attacks it, and
 * measures the requests from another caller and the memory of the portal.
 */

const USERS = 200;
const ATTACK_MS = 20_000;
/** Time between two requests from the other caller, in milliseconds. */
const INTERVAL_MS = 100;
const TIMEOUT_MS = 60_000;

runProgram(main, log);

async function main(): Promise<void> {
  const checkout = process.argv[2];
  const only = new RegExp(process.env.ONLY ?? '');
  const names = Object.keys(attacks).filter(name => only.test(name));
  const lines = await withRealm(
    { users: USERS, signal: interrupted },
    async measured => {
      const rows: string[][] = [];
      for (const name of names) {
        log(name);
        rows.push([name, ...(await measureAttack(name, measured, checkout))]);
      }
      return rows;
    },
  );
  const head = ['attack', 'p50', 'p95', 'max', 'failed', 'memory', 'increase'];
  process.stdout.write(`
${checkout}
${cpus().length} × ${cpus()[0].model.trim()}, Node ${
    process.version
  }. Each attack: ${ATTACK_MS / 1000} s.
p50, p95, max: milliseconds of GET /api/directory/v1/me/ of another caller, ${
    1000 / INTERVAL_MS
  } requests/s; failed: without a 200.
memory, increase: RSS of the portal before the attack and its maximum increase, MiB.

${markdownTable([[...head, 'responses to the attacker'], ...lines])}
`);
}

async function measureAttack(
  name: string,
  { realm, tickets }: MeasuredRealm,
  checkout: string,
): Promise<readonly string[]> {
  const portal = await Portal.start({ realm, checkout, variant: 'replica' });
  const finished = new AbortController();
  try {
    await portal.untilReady(interrupted);
    const { origin } = portal;
    const sessions = new SessionCredentials(origin, tickets);
    await portal.until(() => sessions.prepare().then(() => true), interrupted);
    const token = await portal.token();
    // The first requests cause code to be compiled.
    await callUntil(AbortSignal.timeout(2000), origin, sessions.next());
    const before = await portal.residentBytes();

    const calls = callUntil(finished.signal, origin, sessions.next());
    const highest = highestUntil(finished.signal, portal);
    const responses = await attack({ name, origin, token });
    finished.abort();
    const { times, failed } = await calls;
    const { p50, p95, max } = spreadOf(times);
    return [
      ...[p50, p95, max].map(ms =>
        times.length === 0 ? '?' : milliseconds(ms),
      ),
      `${failed} of ${times.length + failed}`,
      mebibytes(before),
      mebibytes(Math.max(0, (await highest) - before)),
      Object.entries(responses)
        .map(([response, count]) => `${count} × ${response}`)
        .join(', '),
    ];
  } finally {
    finished.abort();
    await portal.stop();
  }
}

/** Runs an attack from a separate process. */
async function attack(options: AttackOptions): Promise<Responses> {
  const attacker = fork(require.resolve('./attacks'));
  try {
    attacker.send(options);
    await sleep(ATTACK_MS, undefined, { signal: interrupted });
    const signal = AbortSignal.any([
      interrupted,
      AbortSignal.timeout(TIMEOUT_MS),
    ]);
    const messages = on(attacker, 'message', { signal });
    attacker.send('end');
    // The loader sends messages of other types.
    for await (const [{ responses }] of messages) {
      if (responses) {
        return responses;
      }
    }
    throw new Error('The attacker sent no responses');
  } finally {
    attacker.kill('SIGKILL');
  }
}

/**
 * Sends requests at fixed times, without waiting for earlier responses.
 *
 * @returns milliseconds from these times to the responses, and the number of
 * requests without a 200
 */
async function callUntil(
  signal: AbortSignal,
  origin: string,
  { headers }: Credential,
): Promise<{ readonly times: readonly number[]; readonly failed: number }> {
  const pool = new Pool(origin, {
    connections: TIMEOUT_MS / INTERVAL_MS,
    headersTimeout: TIMEOUT_MS,
    pipelining: 1,
  });
  const path = '/api/directory/v1/me/';
  const times: number[] = [];
  const call = async (due: number) => {
    const response = await pool.request({ method: 'GET', path, headers });
    await response.body.dump();
    if (response.statusCode === 200) {
      times.push(performance.now() - due);
    }
  };
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let due = start; !signal.aborted; due += INTERVAL_MS) {
    calls.push(call(due).catch(() => {}));
    await sleep(Math.max(0, due + INTERVAL_MS - performance.now()));
  }
  await Promise.all(calls);
  await pool.destroy();
  const failed = calls.length - times.length;
  return { times, failed };
}

/** Returns the maximum RSS, or NaN when the portal exits. */
async function highestUntil(
  signal: AbortSignal,
  portal: Portal,
): Promise<number> {
  let highest = 0;
  do {
    const bytes = await portal.residentBytes().catch(() => NaN);
    highest = Math.max(highest, bytes);
    await sleep(INTERVAL_MS);
  } while (!signal.aborted);
  return highest;
}

function log(line: string): void {
  process.stderr.write(`attacks: ${line}\n`);
}
