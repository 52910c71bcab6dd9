import type { Realm } from '@directory-gateway/realm';
import { Attribute, Change, Client as LdapClient } from 'ldapts';
import { readFile } from 'node:fs/promises';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { milliseconds, type ClosedLoop } from './ClosedLoop';
import type { Credentials } from './credentials/credentials';
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
  /** Responses with neither the old nor the new state. */
  readonly wrong: readonly string[];
}

const LDAP_TIMEOUT_MS = 60_000;
const POLL_MS = 3;
const TIMEOUT_MS = 10_000;
/** Number of checks of each response after it showed the write. */
const REPETITIONS = 3;

const INNER = 'bench-inner';
const OUTER = 'bench-outer';

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
  readonly status: 200 | 404;
  /** Text that the response contains. */
  readonly text: string;
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

  async measure({ name, checks }: Write) {
    const writtenAt = performance.now();
    const wrong: string[] = [];
    for (const check of checks) {
      const problem = await this.#untilVisible(check, writtenAt);
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

  async #untilVisible(
    check: Check,
    writtenAt: number,
  ): Promise<string | undefined> {
    while (performance.now() - writtenAt < TIMEOUT_MS) {
      const { isVisible, status, text } = await this.#send(check);
      if (isVisible) {
        return undefined;
      }
      if (status !== 200 && status !== 404) {
        return `returned ${status}: ${text}`;
      }
      await sleep(POLL_MS, undefined, { signal: this.#signal });
    }
    return `does not show it after ${TIMEOUT_MS} ms`;
  }

  async #send(check: Check) {
    await this.#credentials.prepare(1);
    const { statusCode: status, body } = await this.#client.request({
      method: 'GET',
      path: `/api/directory/v1${check.path}`,
      headers: this.#credentials.next()!.headers,
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
    return await measureWrites(writer, probe);
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
