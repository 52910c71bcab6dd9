import { PostgresServer, type Realm } from '@directory-gateway/realm';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClosedLoop, CpuMeter, median, rate } from './ClosedLoop';
import { Portal, processCpuMs } from './portal/Portal';
import { readCount, runProgram, signal } from './run';
import { certificateScenarios } from './scenarios/certificates';
import type { Scenario } from './scenarios/Scenario';
import { SeededRandom } from './SeededRandom';
import { BENCHMARKS, settings } from './settings';
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
const START_MS = 20_000;
const PIN = '1234';

/** Where the key of the CA is: in the portal's process, or in a `directory-ca`. */
type SignerKind = 'file' | 'socket' | 'pkcs11';

/** A portal, and the process of its CA, if any. */
interface Variant {
  readonly name: string;
  readonly portal: Portal;
  readonly signer: ChildProcess | undefined;
  readonly loop: ClosedLoop;
  readonly scenario: Scenario;
  readonly rounds: Round[];
}

/** Results of a round; CPU times in microseconds for each certificate. */
interface Round {
  readonly rps: number;
  readonly portalCpuUs: number;
  readonly signerCpuUs: number;
  /** Utilization of the portal's CPU by all processes, from 0 to 1. */
  readonly busy: number;
}

runProgram(() => main(process.argv.slice(2)), log);

async function main(args: readonly string[]): Promise<void> {
  const names = args.length > 0 ? args : ['file', 'socket', 'pkcs11'];
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
  { portal, signer, loop, scenario, rounds }: Variant,
  { tickets }: MeasuredRealm,
): Promise<void> {
  const { usernames } = tickets;
  await scenario.prepare?.({ usernames, count: CERTIFICATES });
  await tickets.prepare(CERTIFICATES);
  const random = new SeededRandom(settings.seed);
  await portal.vitals();
  const meter = new CpuMeter(settings.portalCpu);
  const signerMs = () => (signer ? processCpuMs(signer.pid!) : 0);
  const signerBefore = await signerMs();
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
    signerCpuUs: (1000 * ((await signerMs()) - signerBefore)) / sample.requests,
    busy,
  });
}

/** @param name - `SIGNER` or `SIGNER@CHECKOUT` */
async function startVariant(
  name: string,
  { realm, postgres }: { realm: Realm; postgres: PostgresServer | undefined },
): Promise<Variant> {
  const [kind, checkout] = name.split('@');
  if (!['file', 'socket', 'pkcs11'].includes(kind)) {
    throw new Error(`The signer must be file, socket or pkcs11, not '${kind}'`);
  }
  const external =
    kind === 'file'
      ? undefined
      : await startSigner(realm, kind as Exclude<SignerKind, 'file'>);
  const portal = await Portal.start({
    realm,
    variant: 'replica',
    checkout,
    config: await writeConfig(realm, {
      ...external?.config,
      ...(postgres && databaseOf(postgres)),
    }),
  });
  await portal.untilReady(signal);
  const loop = new ClosedLoop({
    origin: portal.origin,
    connections: CONNECTIONS,
  });
  const scenario = certificateScenarios(portal, '').find(
    each => each.name === 'POST /certs/ P-256',
  )!;
  const signer = external?.process;
  return { name, portal, signer, loop, scenario, rounds: [] };
}

async function stopVariant({ portal, loop, signer }: Variant): Promise<void> {
  await loop.close();
  await portal.stop();
  if (signer?.exitCode === null) {
    const exit = once(signer, 'exit');
    signer.kill();
    await exit;
  }
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

/**
 * Starts `directory-ca serve`, and returns its process and the configuration of
 * a portal that uses it.
 */
async function startSigner(realm: Realm, kind: 'socket' | 'pkcs11') {
  const folder = join(realm.dir, `signer-${kind}`);
  const file = (name: string) => join(folder, name);
  await mkdir(file('tokens'), { recursive: true, mode: 0o700 });
  await writeFile(
    file('softhsm2.conf'),
    `directories.tokendir = ${file('tokens')}\n`,
  );
  await writeFile(file('pin'), `${PIN}\n`, { mode: 0o600 });
  const env = { ...process.env, SOFTHSM2_CONF: file('softhsm2.conf') };
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const directoryCa = join(dirname(BENCHMARKS), 'packages/ca/bin/directory-ca');
  const names = ['--folder', file('ca'), '--organization', realm.realm];
  run(process.execPath, [directoryCa, 'create-root', ...names]);
  const token = {
    module: '/usr/lib/softhsm/libsofthsm2.so',
    token: 'ca',
    key: 'intermediate',
    pinFile: file('pin'),
  };
  if (kind === 'pkcs11') {
    run('softhsm2-util', [
      ...['--init-token', '--free', '--label', token.token],
      ...['--pin', PIN, '--so-pin', PIN],
    ]);
  }
  run(process.execPath, [
    ...[directoryCa, 'create-intermediate', ...names],
    ...(kind === 'pkcs11'
      ? [
          ...['--pkcs11-module', token.module, '--pkcs11-token', token.token],
          ...['--pkcs11-key', token.key, '--pkcs11-pin-file', token.pinFile],
        ]
      : []),
  ]);
  // JSON is YAML.
  await writeFile(
    file('config.yaml'),
    JSON.stringify({
      organization: realm.realm,
      issuers: [
        {
          chainFile: file('ca/intermediate.pem'),
          ...(kind === 'pkcs11'
            ? { pkcs11: token }
            : { keyFile: file('ca/intermediate.key') }),
        },
      ],
      logFolder: file('log'),
      limit: { certificates: 1_000_000 },
      socket: file('ca.sock'),
      publicUrl: 'http://localhost/api/directory',
    }),
  );
  const child = spawn(
    process.execPath,
    [directoryCa, 'serve', '--config', file('config.yaml'), '--allow-root'],
    // Ctrl-C reaches only the parent, which stops this process.
    { env, stdio: ['ignore', 'ignore', 'inherit'], detached: true },
  );
  const end = performance.now() + START_MS;
  while (!existsSync(file('ca.sock'))) {
    if (child.exitCode !== null || performance.now() > end) {
      throw new Error('The process of the CA did not start');
    }
    await sleep(50, undefined, { signal });
  }
  const embedded = {
    socket: file('ca.sock'),
    issuers: null,
    logFolder: null,
    limit: null,
  };
  return {
    process: child,
    config: { directory: { certificates: { embedded } } },
  };
}

function formatVariants(variants: readonly Variant[]): string {
  const head = ['', 'certificates/s', 'portal, µs CPU', 'CA, µs CPU'];
  const rows = variants.map(({ name, rounds }) => [
    name,
    formatRange(rounds.map(({ rps }) => rps)),
    formatRange(rounds.map(({ portalCpuUs }) => portalCpuUs)),
    formatRange(rounds.map(({ signerCpuUs }) => signerCpuUs)),
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
