import { PostgresServer, type Realm } from '@directory-gateway/realm';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ClosedLoop, CpuMeter, median, rate } from './ClosedLoop';
import { Portal } from './portal/Portal';
import { readCount, runProgram, signal } from './run';
import { certificateScenarios } from './scenarios/certificates';
import type { Scenario } from './scenarios/Scenario';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { markdownTable } from './tables';
import { withRealm, type MeasuredRealm } from './withRealm';

/*
 * `benchmarks/issuance`: issues P-256 certificates with SPNEGO tokens from
 * several portals in turn; see benchmarks/README.md.
 */

/** Certificates of a portal in a round. */
const CERTIFICATES = readCount('CERTIFICATES', 800);
const ROUNDS = readCount('ROUNDS', 7);
/** V8 compiles most code during these rounds. */
const WARM_UP_ROUNDS = 2;
const USERS = readCount('USERS', 2000);
/** Concurrent requests to a portal. */
const CONNECTIONS = readCount('CONNECTIONS', settings.connections);
/** Database of the portals: SQLite in memory, unless it is `postgres`. */
const { DATABASE } = process.env;

/** A portal of a checkout. */
interface Variant {
  readonly name: string;
  readonly portal: Portal;
  readonly loop: ClosedLoop;
  readonly scenario: Scenario;
  readonly rounds: Round[];
}

/** Results of a round; the CPU time is in microseconds for each certificate. */
interface Round {
  readonly rps: number;
  readonly portalCpuUs: number;
  /** Utilization of the portal's CPU by all processes, from 0 to 1. */
  readonly busy: number;
}

runProgram(() => main(process.argv.slice(2)), log);

async function main(args: readonly string[]): Promise<void> {
  const names = args.length > 0 ? args : ['.'];
  const variants: Variant[] = [];
  await withRealm({ users: USERS, signal }, async measured => {
    const { realm } = measured;
    const postgres =
      DATABASE === 'postgres' ? await PostgresServer.start() : undefined;
    try {
      for (const name of names) {
        variants.push(await startVariant(name, { realm, postgres }));
      }
      await measure(variants, measured);
    } finally {
      await Promise.all(variants.map(stopVariant));
      await postgres?.stop();
    }
  });
  process.stdout.write(`\n${formatVariants(variants)}\n`);
}

async function measure(
  variants: readonly Variant[],
  measured: MeasuredRealm,
): Promise<void> {
  const { PROFILE } = process.env;
  for (const variant of variants) {
    await variant.portal.untilIdle(signal);
    for (let round = 0; round < WARM_UP_ROUNDS; round++) {
      await runRound(variant, measured);
    }
    variant.rounds.length = 0;
    if (PROFILE) {
      await variant.portal.startProfile();
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    // Each variant is the first one in turn.
    for (let index = 0; index < variants.length; index++) {
      const variant = variants[(round + index) % variants.length];
      await runRound(variant, measured);
      const { rps, portalCpuUs, busy } = variant.rounds.at(-1)!;
      log(
        `${variant.name}: ${rps.toFixed(0)}/s, ${portalCpuUs.toFixed(
          0,
        )} µs, CPU ${(100 * busy).toFixed(0)} %`,
      );
    }
  }
  if (PROFILE) {
    for (const [index, { portal }] of variants.entries()) {
      await mkdir(PROFILE, { recursive: true });
      await portal.stopProfile(join(PROFILE, `issuance-${index}.cpuprofile`));
    }
  }
}

async function runRound(
  { portal, loop, scenario, rounds }: Variant,
  { tickets }: MeasuredRealm,
): Promise<void> {
  const { usernames } = tickets;
  await scenario.prepare?.({ usernames, count: CERTIFICATES });
  await tickets.prepare(CERTIFICATES);
  const random = new SeededRandom(settings.seed);
  await portal.vitals();
  const meter = new CpuMeter(settings.portalCpu);
  // Until no credentials are left.
  const sample = await loop.run({
    credentials: tickets,
    next: username => scenario.next(random, username),
    connections: CONNECTIONS,
    ms: Infinity,
    signal,
  });
  const busy = meter.lap();
  const { cpuMs } = await portal.vitals();
  rounds.push({
    rps: rate(sample),
    portalCpuUs: (1000 * cpuMs) / sample.requests,
    busy,
  });
}

/** @param name - folder of a checkout */
async function startVariant(
  name: string,
  { realm, postgres }: { realm: Realm; postgres: PostgresServer | undefined },
): Promise<Variant> {
  const portal = await Portal.start({
    realm,
    variant: 'replica',
    checkout: resolve(name),
    config: await writeConfig(realm, postgres ? databaseOf(postgres) : {}),
  });
  await portal.untilReady(signal);
  const loop = new ClosedLoop({
    origin: portal.origin,
    connections: CONNECTIONS,
  });
  const scenario = certificateScenarios(portal, '').find(
    each => each.name === 'POST /certs/ P-256',
  )!;
  return { name, portal, loop, scenario, rounds: [] };
}

async function stopVariant({ portal, loop }: Variant): Promise<void> {
  await loop.close();
  await portal.stop();
}

/** Writes a configuration file, and returns its path. */
async function writeConfig(realm: Realm, config: object): Promise<string> {
  const file = join(realm.dir, `app-config.${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** Returns the configuration of a portal with its own databases. */
function databaseOf(postgres: PostgresServer) {
  const { host, user } = postgres.connection('postgres');
  const prefix = `portal_${randomUUID().slice(0, 8)}_`;
  return {
    backend: { database: { client: 'pg', connection: { host, user }, prefix } },
  };
}

function formatVariants(variants: readonly Variant[]): string {
  const head = ['', 'certificates/s', 'µs CPU'];
  const rows = variants.map(({ name, rounds }) => [
    name,
    formatRange(rounds.map(({ rps }) => rps)),
    formatRange(rounds.map(({ portalCpuUs }) => portalCpuUs)),
  ]);
  return markdownTable([head, ...rows]);
}

/** Median, minimum and maximum. */
function formatRange(numbers: readonly number[]): string {
  const whole = (number: number) => Math.round(number).toLocaleString('en-US');
  return `${whole(median(numbers))} (${whole(Math.min(...numbers))}–${whole(
    Math.max(...numbers),
  )})`;
}

function log(line: string): void {
  process.stderr.write(`issuance: ${line}\n`);
}
