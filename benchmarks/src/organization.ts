import {
  freePorts,
  PostgresServer,
  startRealm,
} from '@directory-gateway/realm';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Attribute, Change, Client as LdapClient } from 'ldapts';
import { SeededRandom } from './SeededRandom';
import { BENCHMARKS, settings } from './settings';

// The catalog follows the directory: benchmarks/organization.
const users = Number(process.env.USERS || 20_000);
const writes = Number(process.env.WRITES || 100);
const idleMs = Number(process.env.IDLE_MINUTES || 10) * 60_000;

const ROOT = dirname(BENCHMARKS);
const TOKEN = randomBytes(24).toString('base64url');
const POLL_MS = 20;
/** Pause between two writes, which are independent of each other then. */
const WRITE_PAUSE_MS = 1500;
const TIMEOUT_MS = 3_600_000;

type Database = ReturnType<PostgresServer['connect']>;

/** Calls `check` until it returns true. */
async function until(check: () => Promise<boolean>, pollMs = POLL_MS) {
  const endsAt = performance.now() + TIMEOUT_MS;
  while (!(await check())) {
    if (performance.now() > endsAt) {
      throw new Error('Timeout');
    }
    await sleep(pollMs);
  }
}

const log = (line: string) => process.stderr.write(`${line}\n`);

const secondsSince = (start: number) =>
  Math.round((performance.now() - start) / 100) / 10;

function summary(values: readonly number[]) {
  const histogram = createHistogram();
  values.forEach(ms => histogram.record(Math.max(1, Math.round(ms))));
  return {
    p50_ms: histogram.percentile(50),
    p95_ms: histogram.percentile(95),
    max_ms: histogram.max,
  };
}

/** Number of catalog entities, and of those whose relations are written. */
async function countEntities(database: Database) {
  const { rows } = await database.raw(
    `select count(*)::int as final from final_entities
     where final_entity is not null and entity_ref ~ '^(user|group):'`,
  );
  const waiting = await database.raw(
    `select (select count(*) from refresh_state where result_hash is null)
          + (select count(*) from stitch_queue) as waiting`,
  );
  return {
    final: rows[0].final as number,
    waiting: Number(waiting.rows[0].waiting),
  };
}

/** CPU time of a process in seconds, and its memory in MB. */
async function usageOf({ pid }: ChildProcess) {
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1];
  const fields = stat.split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
    rssMb: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024),
  };
}

async function main() {
  const realm = await startRealm({ users, accessLog: 'buffered' });
  const postgres = await PostgresServer.start();
  const folder = await mkdtemp(join(tmpdir(), 'organization-'));
  let portal: ChildProcess | undefined;
  let catalog: Database | undefined;
  try {
    const [port] = await freePorts(1);
    const baseUrl = `http://localhost:${port}`;
    const { host, user } = postgres.connection('postgres');
    const config = join(folder, 'app-config.json');
    await writeFile(
      config,
      JSON.stringify({
        app: { baseUrl, title: 'Benchmark' },
        backend: {
          baseUrl,
          listen: { host: '127.0.0.1', port },
          auth: {
            externalAccess: [
              { type: 'static', options: { token: TOKEN, subject: 'bench' } },
            ],
          },
          database: { client: 'pg', connection: { host, user } },
        },
        permission: { enabled: true },
        catalog: { orphanProviderStrategy: 'keep', processingInterval: '30m' },
        kerberos: { keytab: realm.keytab },
        directory: {
          ldap: {
            servers: [realm.ldapsUrl],
            caFile: realm.caFile,
            baseDn: realm.baseDn,
            bindDn: realm.bindDn,
            bindPasswordFile: realm.bindPasswordFile,
          },
          changes: { keys: [{ secret: randomBytes(32).toString('base64') }] },
        },
      }),
    );
    const startedAt = performance.now();
    portal = spawn(
      process.execPath,
      [
        '--require',
        require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
        join(ROOT, 'packages/backend/src/index.ts'),
        '--config',
        config,
      ],
      {
        cwd: ROOT,
        env: {
          ...process.env,
          KRB5_CONFIG: realm.krb5Config,
          NODE_ENV: 'development',
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    await until(
      async () =>
        (
          await fetch(`${baseUrl}/.backstage/health/v1/readiness`).catch(
            () => undefined,
          )
        )?.ok ?? false,
      200,
    );
    const readySeconds = secondsSince(startedAt);
    log(`ready after ${readySeconds} s`);
    catalog = postgres.connect('backstage_plugin_catalog');
    const database = catalog;
    await until(async () => {
      const { final, waiting } = await countEntities(database);
      log(`${secondsSince(startedAt)} s: ${final} entities, ${waiting} wait`);
      return final >= users && waiting === 0;
    }, 5000);
    const ingestedSeconds = secondsSince(startedAt);

    const ldap = new LdapClient({
      url: realm.ldapsUrl,
      tlsOptions: { ca: await readFile(realm.caFile) },
    });
    const rootPassword = await readFile(realm.rootPasswordFile, 'utf8');
    await ldap.bind(realm.rootDn, rootPassword.trim());
    const accounts = `cn=accounts,${realm.baseDn}`;
    const { searchEntries } = await ldap.search(`cn=users,${accounts}`, {
      scope: 'one',
      filter:
        '(&(objectClass=fasUser)(!(nsAccountLock=TRUE))(!(fasIsPrivate=TRUE)))',
      attributes: ['uid'],
    });
    const names = searchEntries.map(({ uid }) => String(uid));
    const random = new SeededRandom(settings.seed);
    const applied: number[] = [];
    const visible: number[] = [];
    for (let write = 0; write < writes; write++) {
      await sleep(WRITE_PAUSE_MS);
      const name = random.pick(names);
      const value = `${name}-${write}@example.test`;
      await ldap.modify(`uid=${name},cn=users,${accounts}`, [
        new Change({
          operation: 'replace',
          modification: new Attribute({ type: 'mail', values: [value] }),
        }),
      ]);
      const writtenAt = performance.now();
      const ref = `user:default/${name.toLowerCase()}`;
      // What applyMutation has written, before the entity is processed.
      await until(async () => {
        const row = await database('refresh_state')
          .where({ entity_ref: ref })
          .first('unprocessed_entity');
        return row.unprocessed_entity.includes(value);
      });
      applied.push(performance.now() - writtenAt);
      await until(async () => {
        const response = await fetch(
          `${baseUrl}/api/catalog/entities/by-name/user/default/${name}`,
          { headers: { Authorization: `Bearer ${TOKEN}` } },
        );
        return (await response.text()).includes(value);
      });
      visible.push(performance.now() - writtenAt);
    }
    await ldap.unbind();

    const before = await usageOf(portal);
    const { rows: clock } = await database.raw('select now() as start');
    await sleep(idleMs);
    const after = await usageOf(portal);
    const mutated = await database('refresh_state')
      .where('last_discovery_at', '>', clock[0].start)
      .count({ count: '*' });
    process.stdout.write(
      `${JSON.stringify(
        {
          users,
          machine: { cpus: cpus().length, model: cpus()[0].model },
          ready_s: readySeconds,
          ingested_s: ingestedSeconds,
          entities: (await countEntities(database)).final,
          writes,
          apply_mutation: summary(applied),
          visible_entity: summary(visible),
          idle_minutes: idleMs / 60_000,
          idle_mutations: Number(mutated[0].count),
          idle_cpu_s: Math.round(after.cpuSeconds - before.cpuSeconds),
          rss_mb: after.rssMb,
        },
        undefined,
        2,
      )}\n`,
    );
  } finally {
    if (portal?.exitCode === null) {
      portal.kill('SIGKILL');
      await once(portal, 'exit');
    }
    await catalog?.destroy();
    await realm.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

main().catch(error => {
  log(String(error?.stack ?? error));
  process.exitCode = 1;
});
