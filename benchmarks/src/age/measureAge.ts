import type { Realm } from '@directory-gateway/realm';
import { createHistogram } from 'node:perf_hooks';
import { Client } from 'undici';
import type { Credentials } from '../credentials/Credentials';
import type { ClosedLoop } from '../load/ClosedLoop';
import { milliseconds } from '../load/milliseconds';
import type { People } from '../People';
import type { Portal } from '../portal/Portal';
import { groupQuestions } from '../questions/groupQuestions';
import { userQuestions } from '../questions/userQuestions';
import { SeededRandom } from '../SeededRandom';
import { settings } from '../settings';
import { AnswerWatch } from './AnswerWatch';
import { DirectoryWriter } from './DirectoryWriter';
import { WRITTEN_GROUPS, writesOf } from './writesOf';

/** How late writes were seen, in milliseconds from the write's answer. */
export interface Ages {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers that were neither the old nor the new one. */
  readonly wrong: readonly string[];
}

/** What writes are looked for with. */
export interface AgeSetup {
  readonly realm: Realm;
  readonly people: People;
  readonly portal: Portal;
  readonly loop: ClosedLoop;
  readonly credentials: Credentials;
}

/** Writes one thing after another while a portal is asked for others. */
export async function measureAge(
  setup: AgeSetup,
  { signal }: { readonly signal: AbortSignal },
): Promise<Ages> {
  const { realm, portal, credentials } = setup;
  const writer = await DirectoryWriter.connect(realm);
  const client = new Client(portal.origin, { pipelining: 1 });
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  const load = keepAsking(setup, either);
  // What has gone wrong is thrown below.
  load.catch(() => enough.abort());
  try {
    const watch = new AnswerWatch({ client, credentials });
    return await writeAndWatch({ writer, watch, signal: either });
  } finally {
    enough.abort();
    await load;
    await client.destroy();
    await writer.close();
  }
}

async function writeAndWatch(options: {
  readonly writer: DirectoryWriter;
  readonly watch: AnswerWatch;
  readonly signal: AbortSignal;
}): Promise<Ages> {
  const { writer, watch, signal } = options;
  const { inner, outer } = WRITTEN_GROUPS;
  const histogram = createHistogram();
  const wrong: string[] = [];
  await writer.addGroup(inner);
  await writer.addGroup(outer);
  await writer.nestGroup(inner, outer);
  for (let person = 0; histogram.count < settings.writes; person++) {
    for (const write of writesOf(`bench.${person}`)) {
      await write.write(writer);
      const showing = await watch.see(write, signal);
      histogram.record(Math.max(1, Math.round(showing.ms * 1e6)));
      wrong.push(...showing.wrong);
    }
  }
  await writer.deleteGroup(outer);
  await writer.deleteGroup(inner);
  return {
    writes: histogram.count,
    p50Ms: milliseconds(histogram, 50),
    p95Ms: milliseconds(histogram, 95),
    p99Ms: milliseconds(histogram, 99),
    maxMs: milliseconds(histogram, 100),
    wrong,
  };
}

/** Questions that no write changes the answers of. */
async function keepAsking(
  { people, loop, credentials }: AgeSetup,
  signal: AbortSignal,
): Promise<void> {
  const random = new SeededRandom(settings.seed);
  const [user] = userQuestions(people);
  const [group, isMember] = groupQuestions(people);
  try {
    await loop.run({
      credentials,
      signal,
      ms: Infinity,
      connections: settings.connectionsWhileWritten,
      draw: username =>
        random.pick([user, group, isMember]).draw(random, username),
    });
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  }
}
