import { PostgresServer, type Realm } from '@directory-gateway/realm';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf } from './ClosedLoop';
import type { People } from './People';
import { Portal } from './portal/Portal';
import { describeMachine, readCount, runProgram, signal } from './run';
import { SeededRandom } from './SeededRandom';
import { BENCHMARKS, GOAL_USERS, settings } from './settings';
import {
  formatOrganizations,
  milliseconds,
  type OrganizationResults,
} from './tables';
import { withRealm, type MeasuredRealm } from './withRealm';
import { DirectoryWriter } from './writeVisibility';

/*
 * `benchmarks/organization`: measures the users and groups of the catalog in
 * the portal with PostgreSQL, prints a table and writes the results.
 */

const INGESTION_TIMEOUT_MS = 2 * 60 * 60_000;
const WRITE_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/** Minimum pause before a write, and maximum random time in addition. */
const PAUSE_MS = 1000;
/**
 * Pause in milliseconds, longer than the catalog module takes to re-read recent
 * changes.
 */
const SETTLE_MS = 10_000;
/** The module omits relations of groups with more than 1000 direct members. */
const MAX_MEMBERS = 900;
/** Names that are the same in the directory and in entities. */
const NAME = /^[a-z0-9]+([-_.][a-z0-9]+)*$/;

type CatalogDatabase = ReturnType<PostgresServer['connect']>;

/** Milliseconds from the response to a write. */
interface Sample {
  readonly kind: 'join' | 'leave' | 'mail';
  /** Start of the transaction of `applyMutation`. */
  readonly appliedMs: number;
  /** First response with the new value. */
  readonly visibleMs: number;
}

interface UserEntity {
  readonly spec: { readonly profile: { readonly email?: string } };
  readonly relations: readonly { targetRef: string }[];
}

runProgram(main, log);

async function main(): Promise<void> {
  const users = readCount('USERS', GOAL_USERS);
  const count = readCount('SAMPLES', 100);
  const minutes = readCount('IDLE_MINUTES', 10);
  const machine = describeMachine();
  const measured = await withRealm({ users, signal }, each =>
    measure(each, { count, minutes }),
  );
  const results: OrganizationResults = { users, machine, ...measured };
  const file = join(BENCHMARKS, `results-organization-${users}.json`);
  const content = JSON.stringify(results, undefined, 2);
  await writeFile(file, `${content}\n`);
  log(`load ${machine.load_before} before; results: ${file}`);
  process.stdout.write(`${formatOrganizations([results])}\n`);
}

async function measure(
  { realm, people }: MeasuredRealm,
  { count, minutes }: { readonly count: number; readonly minutes: number },
) {
  const entities = people.all.length + people.groups.length;
  const postgres = await PostgresServer.start();
  // Backstage creates this database.
  const database = postgres.connect('backstage_plugin_catalog');
  let portal: Portal | undefined;
  try {
    portal = await Portal.start({
      realm,
      variant: 'replica',
      fromSources: true,
      config: await writeConfig(realm, postgres),
    });
    log(`waiting for ${entities} entities`);
    const ingestion = await measureIngestion(portal, database, entities);
    const writer = await DirectoryWriter.connect(realm);
    const write = randomWrites(people, writer);
    const samples = await measureWrites({ portal, database }, { count, write });
    await writer.close();
    await sleep(SETTLE_MS, undefined, { signal });
    log(`idle for ${minutes} minutes`);
    const idle = await measureIdle(portal, database, minutes);
    const rssBytes = await portal.residentBytes();
    return {
      entities,
      ingestion,
      writes: samples.length,
      appliedMs: spreadOf(samples.map(({ appliedMs }) => appliedMs)),
      visibleMs: spreadOf(samples.map(({ visibleMs }) => visibleMs)),
      idle,
      rssBytes,
    };
  } finally {
    await portal?.stop();
    await database.destroy();
    await postgres.stop();
  }
}

/**
 * Writes the differences from app-config.yaml, which contains the catalog's
 * settings.
 */
async function writeConfig(realm: Realm, postgres: PostgresServer) {
  const { host, user } = postgres.connection('postgres');
  const backend = { database: { client: 'pg', connection: { host, user } } };
  const file = join(realm.dir, 'app-config.organization.json');
  await writeFile(file, JSON.stringify({ backend }));
  return file;
}

/** Waits until all entities are final and have their relations. */
async function measureIngestion(
  portal: Portal,
  database: CatalogDatabase,
  entities: number,
) {
  const isComplete = async () => {
    await sleep(PAUSE_MS, undefined, { signal });
    const { rows } = await database.raw(`select
      (select count(*)::int from refresh_state where processed_entity is null)
        + (select count(*)::int from stitch_queue) as missing,
      (select count(*)::int from final_entities
        where entity_ref similar to '(user|group):%') as final`);
    return rows[0].missing === 0 && rows[0].final === entities;
  };
  // An entity is processed shortly before its relations are queued.
  await portal.until(
    async () => (await isComplete()) && (await isComplete()),
    signal,
    INGESTION_TIMEOUT_MS,
  );
  const { rows } = await database.raw(`select
    (select ${epochMs('max(last_discovery_at)')} from refresh_state) as written,
    (select ${epochMs('max(last_updated_at)')} from final_entities) as final,
    (select count(*)::int from refresh_state where errors <> '[]') as failed,
    (select count(*)::int from (select distinct source_entity_ref, type,
      target_entity_ref from relations) as related) as relations,
    (select sum(json_array_length(final_entity::json->'relations'))::int
      from final_entities) as stitched`);
  const [{ written, final, failed, relations, stitched }] = rows;
  if (failed > 0 || relations !== stitched) {
    throw new Error(
      `${failed} entities have errors, ${stitched} of ${relations} relations are stitched`,
    );
  }
  const startedAt = performance.timeOrigin + portal.startedAt;
  return { writtenMs: written - startedAt, finalMs: final - startedAt };
}

/** Makes sequential writes. */
async function measureWrites(
  { portal, database }: { portal: Portal; database: CatalogDatabase },
  { count, write }: { count: number; write: ReturnType<typeof randomWrites> },
): Promise<readonly Sample[]> {
  const random = new SeededRandom(settings.seed);
  const headers = { Authorization: `Bearer ${await portal.token()}` };
  const samples: Sample[] = [];
  while (samples.length < count) {
    await sleep(PAUSE_MS + random.below(PAUSE_MS), undefined, { signal });
    const { kind, username, isVisible } = await write();
    const writtenAt = Date.now();
    const url = `${portal.origin}/api/catalog/entities/by-name/user/default/${username}`;
    for (;;) {
      const response = await fetch(url, { headers, signal });
      const text = await response.text();
      if (response.ok && isVisible(JSON.parse(text))) {
        break;
      }
      if (!response.ok || Date.now() - writtenAt > WRITE_TIMEOUT_MS) {
        throw new Error(`${url} does not show a ${kind}: ${text}`);
      }
      await sleep(POLL_MS, undefined, { signal });
    }
    const visibleMs = Date.now() - writtenAt;
    // Only `applyMutation` sets it; processing and stitching do not.
    const { rows } = await database.raw(
      `select ${epochMs('last_discovery_at')} as applied
        from refresh_state where entity_ref = ?`,
      [`user:default/${username}`],
    );
    const appliedMs = rows[0].applied - writtenAt;
    samples.push({ kind, appliedMs, visibleMs });
    log(`${kind}: ${milliseconds(appliedMs)}, ${milliseconds(visibleMs)} ms`);
  }
  return samples;
}

/** Returns a function that writes to a user at random. */
function randomWrites({ all, groups }: People, writer: DirectoryWriter) {
  const random = new SeededRandom(settings.seed);
  const users = all.filter(
    user => !user.locked && !user.isPrivate && NAME.test(user.username),
  );
  const joinable = groups
    .filter(({ name, found }) => NAME.test(name) && found.length < MAX_MEMBERS)
    .map(({ name }) => name);
  /** Direct memberships that were added. */
  const added: { username: string; group: string }[] = [];
  let written = 0;
  return async () => {
    const { username, groups: known } = random.pick(
      users.filter(
        user => !added.some(other => other.username === user.username),
      ),
    );
    let kind = random.pick<Sample['kind']>(['join', 'leave', 'mail']);
    if (kind === 'mail') {
      const mail = `written-${++written}@example.test`;
      await writer.modify(writer.userDn(username), 'replace', 'mail', mail);
      const isVisible = ({ spec }: UserEntity) => spec.profile.email === mail;
      return { kind, username, isVisible };
    }
    let membership = kind === 'leave' ? added.shift() : undefined;
    if (!membership) {
      kind = 'join';
      const names = joinable.filter(name => !known.has(name));
      membership = { username, group: random.pick(names) };
      added.push(membership);
    }
    const { group } = membership;
    await writer.modify(
      writer.groupDn(group),
      kind === 'join' ? 'add' : 'delete',
      'member',
      writer.userDn(membership.username),
    );
    const isVisible = ({ relations }: UserEntity) =>
      relations.some(
        ({ targetRef }) => targetRef === `group:default/${group}`,
      ) ===
      (kind === 'join');
    return { kind, username: membership.username, isVisible };
  };
}

/** Counts the entities that mutations write or remove. */
async function measureIdle(
  portal: Portal,
  database: CatalogDatabase,
  minutes: number,
) {
  const removed = new Set(await database('refresh_state').pluck('entity_ref'));
  const cpuMsBefore = await portal.cpuMs();
  const startedAt = new Date();
  await sleep(minutes * 60_000, undefined, { signal });
  const cpuMs = (await portal.cpuMs()) - cpuMsBefore;
  const columns = ['entity_ref', 'last_discovery_at'];
  const rows = await database('refresh_state').select(columns);
  rows.forEach(row => removed.delete(row.entity_ref));
  const written = rows.filter(row => row.last_discovery_at >= startedAt);
  return { minutes, cpuMs, mutations: written.length + removed.size };
}

function epochMs(expression: string): string {
  return `extract(epoch from ${expression})::float8 * 1000`;
}

function log(line: string): void {
  process.stderr.write(`organization: ${line}\n`);
}
