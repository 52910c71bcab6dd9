import type { Realm } from '@directory-gateway/realm';
import { Attribute, Change, Client as LdapClient } from 'ldapts';
import { readFile } from 'node:fs/promises';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import {
  milliseconds,
  spreadOf,
  type ClosedLoop,
  type Spread,
} from './ClosedLoop';
import type { Credential, Credentials } from './credentials/credentials';
import type { Scenario } from './scenarios/Scenario';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';

/** Milliseconds from the response to a write until all responses show it. */
export interface WriteVisibility {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Until a locked account is refused; not in older results. */
  readonly refusedMs?: Spread;
  /** Until a search omits a preserved user; not in older results. */
  readonly unlistedMs?: Spread;
  /** Responses with neither the old nor the new state. */
  readonly wrong: readonly string[];
}

const LDAP_TIMEOUT_MS = 60_000;
const POLL_MS = 3;
const TIMEOUT_MS = 10_000;
/** Timeout of the writes that are not visible at once. */
const DELAY_TIMEOUT_MS = 120_000;
/** Period in which these writes are made. */
const PERIOD_MS = 60_000;
/** Maximum age of an account in the portal's cache. */
const CACHED_MS = 4000;
const UNREADABLE_INTERVAL_MS = 100;
/** Number of checks of each response after it showed the write. */
const REPETITIONS = 3;

const INNER = 'bench-inner';
const OUTER = 'bench-outer';
const UNREADABLE = 'bench-unreadable';

/** A write, and the responses that show it. */
interface Write {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  readonly checks: readonly Check[];
}

/** A response that shows a write. */
interface Check {
  /** Path below `/v1`. */
  readonly path: string;
  readonly status: 200 | 401 | 404;
  /** Text that the response contains. */
  readonly text: string;
  /** Default: the next credential of the probe. */
  readonly credential?: Credential;
}

/** Sends requests until the responses show a write. */
class VisibilityProbe {
  readonly #client: Client;
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal;

  constructor(client: Client, credentials: Credentials, signal: AbortSignal) {
    this.#client = client;
    this.#credentials = credentials;
    this.#signal = signal;
  }

  async measure({ name, checks }: Write, timeoutMs = TIMEOUT_MS) {
    const writtenAt = performance.now();
    const wrong: string[] = [];
    for (const check of checks) {
      const problem = await this.#untilVisible(check, writtenAt, timeoutMs);
      if (problem) {
        wrong.push(`${name}: ${check.path} ${problem}`);
      }
    }
    const ms = performance.now() - writtenAt;
    for (let count = 0; wrong.length === 0 && count < REPETITIONS; count++) {
      for (const check of checks) {
        const { isVisible, text } = await this.#send(check);
        if (!isVisible) {
          wrong.push(`${name}: ${check.path} returned the old state: ${text}`);
        }
      }
    }
    return { ms, wrong };
  }

  /** Makes and measures a write at a random time. */
  async measureDelay(write: Write, random: SeededRandom) {
    const signal = this.#signal;
    await sleep(random.below(PERIOD_MS), undefined, { signal });
    // Caches the account of the caller.
    const { status, isVisible, text } = await this.#send(write.checks[0]);
    if (status !== 200 || isVisible) {
      throw new Error(`${write.name}: returned ${status} before it: ${text}`);
    }
    await sleep(random.below(CACHED_MS), undefined, { signal });
    await write.run();
    return this.measure(write, DELAY_TIMEOUT_MS);
  }

  async #untilVisible(
    check: Check,
    writtenAt: number,
    timeoutMs: number,
  ): Promise<string | undefined> {
    while (performance.now() - writtenAt < timeoutMs) {
      const { isVisible, status, text } = await this.#send(check);
      if (isVisible) {
        return undefined;
      }
      if (status !== 200 && status !== 404) {
        return `returned ${status}: ${text}`;
      }
      await sleep(POLL_MS, undefined, { signal: this.#signal });
    }
    return `does not show it after ${timeoutMs} ms`;
  }

  async #send(check: Check) {
    await this.#credentials.prepare(1);
    const { statusCode: status, body } = await this.#client.request({
      method: 'GET',
      path: `/api/directory/v1${check.path}`,
      headers: (check.credential ?? this.#credentials.next()!).headers,
    });
    const text = await body.text();
    const isVisible = status === check.status && text.includes(check.text);
    return { isVisible, status, text: text.slice(0, 300) };
  }
}

/** Writes to the directory as its administrator; names need no escaping. */
export class DirectoryWriter {
  readonly #client: LdapClient;
  readonly #baseDn: string;

  private constructor(client: LdapClient, baseDn: string) {
    this.#client = client;
    this.#baseDn = baseDn;
  }

  static async connect(realm: Realm): Promise<DirectoryWriter> {
    const client = new LdapClient({
      url: realm.ldapUrl,
      timeout: LDAP_TIMEOUT_MS,
      connectTimeout: LDAP_TIMEOUT_MS,
    });
    const password = await readFile(realm.rootPasswordFile, 'utf8');
    await client.bind(realm.rootDn, password.trim());
    return new DirectoryWriter(client, realm.baseDn);
  }

  userDn(uid: string): string {
    return `uid=${uid},cn=users,cn=accounts,${this.#baseDn}`;
  }

  groupDn(cn: string): string {
    return `cn=${cn},cn=groups,cn=accounts,${this.#baseDn}`;
  }

  async addUser(uid: string): Promise<void> {
    await this.#client.add(this.userDn(uid), {
      objectClass: [
        'inetOrgPerson',
        'posixAccount',
        'krbPrincipalAux',
        'fasUser',
      ],
      cn: uid,
      sn: 'Written',
      givenName: uid,
      displayName: uid,
      uidNumber: '7',
      gidNumber: '7',
      homeDirectory: '/',
    });
  }

  async addGroup(cn: string, member?: string): Promise<void> {
    await this.#client.add(this.groupDn(cn), {
      objectClass: ['ipaUserGroup', 'fasGroup'],
      ...(member !== undefined && { member }),
    });
  }

  async modify(
    dn: string,
    operation: 'add' | 'delete' | 'replace',
    type: string,
    value: string,
  ): Promise<void> {
    const modification = new Attribute({ type, values: [value] });
    await this.#client.modify(dn, new Change({ operation, modification }));
  }

  async renameUser(uid: string, to: string): Promise<void> {
    await this.#client.modifyDN(this.userDn(uid), `uid=${to}`);
  }

  /** Moves a user as `ipa user-del --preserve`, and returns the new DN. */
  async preserveUser(uid: string): Promise<string> {
    const parent = `cn=deleted users,cn=accounts,cn=provisioning,${
      this.#baseDn
    }`;
    await this.#client.modifyDN(this.userDn(uid), `uid=${uid},${parent}`);
    return `uid=${uid},${parent}`;
  }

  async delete(dn: string): Promise<void> {
    await this.#client.del(dn);
  }

  async close(): Promise<void> {
    await this.#client.unbind();
  }
}

/** Measures sequential writes while other connections send requests. */
export async function measureWriteVisibility(options: {
  readonly realm: Realm;
  /** Address of the portal. */
  readonly origin: string;
  readonly loop: ClosedLoop;
  readonly credentials: Credentials;
  /** Sessions of the callers whose accounts are locked. */
  readonly sessions: Credentials;
  /** Requests whose responses are not changed by the writes. */
  readonly background: readonly Scenario[];
  readonly signal: AbortSignal;
}): Promise<WriteVisibility> {
  const { realm, origin, loop, credentials, background } = options;
  const finished = new AbortController();
  const signal = AbortSignal.any([options.signal, finished.signal]);
  const random = new SeededRandom(settings.seed);
  const load = loop
    .run({
      credentials,
      signal,
      ms: Infinity,
      connections: settings.connectionsWhileWritten,
      next: username => random.pick(background).next(random, username),
    })
    .catch(error => {
      // An error in the load ends the writes.
      const isFinished = finished.signal.aborted;
      finished.abort();
      if (!isFinished) {
        throw error;
      }
    });
  load.catch(() => {});
  const client = new Client(origin, { pipelining: 1 });
  const writer = await DirectoryWriter.connect(realm);
  try {
    const probe = new VisibilityProbe(client, credentials, signal);
    // The replica re-reads what was written in the last 20 seconds: these users
    // are added before the other writes.
    const preserved = Array.from(
      { length: settings.preservedUsers },
      (_, index) => `bench-preserved.${index}`,
    );
    for (const uid of [UNREADABLE, ...preserved]) {
      await writer.addUser(uid);
    }
    const written = await measureWrites(writer, probe);
    await options.sessions.prepare(settings.callers);
    const callers = options.sessions.usernames
      .map(() => options.sessions.next()!)
      .filter(({ username }) => !credentials.usernames.includes(username))
      .slice(0, settings.lockedCallers);
    const delays = await measureDelays(writer, probe, [
      callers.map(caller => lockOf(caller, writer)),
      preserved.map(uid => preservationOf(uid, writer)),
    ]);
    const wrong = [...written.wrong, ...delays.wrong];
    return { ...written, ...delays, wrong };
  } finally {
    finished.abort();
    await load;
    await client.destroy();
    await writer.close();
  }
}

async function measureWrites(
  writer: DirectoryWriter,
  probe: VisibilityProbe,
): Promise<WriteVisibility> {
  const histogram = createHistogram();
  const wrong: string[] = [];
  await writer.addGroup(INNER);
  await writer.addGroup(OUTER, writer.groupDn(INNER));
  for (let person = 0; histogram.count < settings.writes; person++) {
    for (const write of writesOf(`bench.${person}`, writer)) {
      await write.run();
      const result = await probe.measure(write);
      histogram.record(Math.max(1, Math.round(result.ms * 1e6)));
      wrong.push(...result.wrong);
    }
  }
  await writer.delete(writer.groupDn(OUTER));
  await writer.delete(writer.groupDn(INNER));
  return {
    writes: histogram.count,
    p50Ms: milliseconds(histogram, 50),
    p95Ms: milliseconds(histogram, 95),
    p99Ms: milliseconds(histogram, 99),
    maxMs: milliseconds(histogram, 100),
    wrong,
  };
}

/**
 * Measures kinds of writes that are not visible at once. Meanwhile, an entry is
 * written that the portal cannot read. Each of these writes may be a deletion,
 * so the replica compares unique IDs at its maximum rate.
 */
async function measureDelays(
  writer: DirectoryWriter,
  probe: VisibilityProbe,
  kinds: readonly (readonly Write[])[],
) {
  const random = new SeededRandom(settings.seed);
  const dn = await writer.preserveUser(UNREADABLE);
  let isFinished = false;
  async function writeUnreadable() {
    for (let step = 0; !isFinished; step++) {
      await writer.modify(dn, 'replace', 'description', `${step}`);
      await sleep(UNREADABLE_INTERVAL_MS);
    }
  }
  const measure = (write: Write) => probe.measureDelay(write, random);
  const measured = Promise.all(
    kinds.map(writes => Promise.all(writes.map(measure))),
  ).finally(() => {
    isFinished = true;
  });
  const [results] = await Promise.all([measured, writeUnreadable()]);
  const [refusedMs, unlistedMs] = results.map(kind =>
    spreadOf(kind.map(({ ms }) => ms)),
  );
  const wrong = results.flat().flatMap(result => result.wrong);
  return { refusedMs, unlistedMs, wrong };
}

function lockOf(caller: Credential, writer: DirectoryWriter): Write {
  const dn = writer.userDn(caller.username);
  return {
    name: `lock ${caller.username}`,
    run: () => writer.modify(dn, 'replace', 'nsAccountLock', 'TRUE'),
    checks: [
      {
        path: '/me/',
        status: 401,
        text: '"reason":"account_locked"',
        credential: caller,
      },
    ],
  };
}

function preservationOf(uid: string, writer: DirectoryWriter): Write {
  return {
    name: `preserve ${uid}`,
    run: () => writer.preserveUser(uid),
    checks: [
      {
        path: `/search/users/?username__exact=${uid}`,
        status: 200,
        text: '"total_results":0',
      },
    ],
  };
}

/** Returns all changes to a user, from the first to the last. */
function writesOf(name: string, writer: DirectoryWriter): readonly Write[] {
  const renamed = `${name}.renamed`;
  const dn = writer.userDn(name);
  const inner = writer.groupDn(INNER);
  return [
    {
      name: 'add',
      run: () => writer.addUser(name),
      checks: [user(name, `"username":"${name}"`)],
    },
    {
      name: 'join a group',
      run: () => writer.modify(inner, 'add', 'member', dn),
      // The server adds the outer group to `memberOf`.
      checks: [isMember(OUTER, name, true), groupsOf(name, 2)],
    },
    {
      name: 'lock',
      run: () => writer.modify(dn, 'replace', 'nsAccountLock', 'TRUE'),
      checks: [user(name, '"locked":true'), isMember(INNER, name, false)],
    },
    {
      name: 'unlock',
      run: () => writer.modify(dn, 'replace', 'nsAccountLock', 'FALSE'),
      checks: [user(name, '"locked":false'), isMember(INNER, name, true)],
    },
    {
      name: 'change',
      run: () => writer.modify(dn, 'replace', 'displayName', `${name} Changed`),
      checks: [
        user(name, `"human_name":"${name} Changed"`),
        {
          path: `/search/users/?human_name__exact=${name}%20Changed`,
          status: 200,
          text: '"total_results":1',
        },
      ],
    },
    {
      name: 'leave the group',
      run: () => writer.modify(inner, 'delete', 'member', dn),
      checks: [isMember(OUTER, name, false), groupsOf(name, 0)],
    },
    {
      name: 'rename',
      run: () => writer.renameUser(name, renamed),
      checks: [user(renamed, `"username":"${renamed}"`), noUser(name)],
    },
    {
      name: 'delete',
      run: () => writer.delete(writer.userDn(renamed)),
      checks: [noUser(renamed)],
    },
  ];
}

function user(username: string, text: string): Check {
  return { path: `/users/${username}/`, status: 200, text };
}

function noUser(username: string): Check {
  return {
    path: `/users/${username}/`,
    status: 404,
    text: '"message":"User not found"',
  };
}

function isMember(group: string, username: string, result: boolean): Check {
  return {
    path: `/groups/${group}/is-member/${username}`,
    status: 200,
    text: `{"result":${result}}`,
  };
}

function groupsOf(username: string, count: number): Check {
  return {
    path: `/users/${username}/groups/`,
    status: 200,
    text: `"total_results":${count}`,
  };
}
