import { startRealm, type Realm } from '@directory-gateway/realm';
import type { JsonObject } from '@backstage/types';
import type { Entry } from 'ldapts';
import { eventually } from '../__testUtils__/eventually';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import {
  everybodySearch,
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../__testUtils__/startPool';
import { any, contains } from './filters';
import type { LdapSearch } from './LdapConnection';

jest.setTimeout(60_000);

let realm: Realm;
let first: FaultProxy;
let second: FaultProxy;
let tested: PoolUnderTest | undefined;
let alice: readonly Entry[];
let everybody: readonly Entry[];

beforeAll(async () => {
  realm = await startRealm();
  const direct = startPool({ realm });
  alice = await direct.search(personSearch(realm, 'alice'));
  everybody = await direct.search(everybodySearch(realm));
  direct.pool.close();
});
beforeEach(async () => {
  first = await FaultProxy.start(realm.ldapsUrl);
  second = await FaultProxy.start(realm.ldapsUrl);
});
afterEach(async () => {
  tested?.pool.close();
  tested = undefined;
  await first.stop();
  await second.stop();
});
afterAll(() => realm?.stop());

/** Starts a pool on proxies of the one real server. */
function start(proxies: readonly FaultProxy[], ldap: JsonObject = {}): void {
  const servers = proxies.map(({ port }) => `ldaps://localhost:${port}`);
  tested = startPool({ realm, ldap: { servers, ...ldap } });
}

const ask = () => tested!.search(personSearch(realm, 'alice'));
const askAll = () => tested!.search(everybodySearch(realm));
const unavailable = { name: 'DirectoryUnavailableError' };
const timeout = { name: 'DirectoryTimeoutError' };

describe('a server that is lost', () => {
  it('is replaced by the next one, also for what it was asked', async () => {
    start([first, second]);
    first.toClient = { kind: 'delay', ms: 100 };
    const pending = Array.from({ length: 20 }, askAll);
    await eventually(() => expect(first.open).toBeGreaterThan(0));
    await first.refuse();
    first.reset();
    for (const answer of await Promise.all(pending)) {
      expect(answer).toEqual(everybody);
    }
    expect(second.accepted).toBeGreaterThan(0);
  });

  it('comes back into use while the next one answers', async () => {
    start([first, second]);
    await ask();
    await first.refuse();
    first.reset();
    await eventually(async () => {
      await ask();
      expect(tested!.log()).toMatch(/out of use/);
    });
    const { accepted } = first;
    await first.accept();
    await eventually(() => expect(first.accepted).toBeGreaterThan(accepted));
    await eventually(async () => {
      const before = second.accepted;
      second.reset();
      await expect(ask()).resolves.toEqual(alice);
      expect(second.accepted).toBe(before);
    });
  });

  it('is not out of use for one lost connection, whoever waited on it', async () => {
    start([first]);
    await ask();
    first.toClient = { kind: 'hang' };
    const pending = Array.from({ length: 10 }, ask);
    first.reset();
    first.toClient = { kind: 'pass' };
    for (const answer of await Promise.all(pending)) {
      expect(answer).toEqual(alice);
    }
    expect(tested!.log()).toBe('');
  });

  it('costs no connection while it is out of use, and nobody waits for it', async () => {
    start([first, second], {
      connectTimeout: '300ms',
      breaker: { initial: '20s', max: '20s' },
    });
    for (const proxy of [first, second]) {
      proxy.both = { kind: 'hang' };
    }
    await eventually(async () => {
      await expect(ask()).rejects.toMatchObject(unavailable);
      expect(tested!.log().match(/out of use/g)).toHaveLength(2);
    });
    const accepted = first.accepted + second.accepted;
    for (let round = 0; round < 100; round++) {
      await expect(ask()).rejects.toMatchObject(unavailable);
    }
    expect(first.accepted + second.accepted).toBe(accepted);
  });
});

describe('a slow server', () => {
  it('is waited for', async () => {
    start([first]);
    first.toClient = { kind: 'delay', ms: 300 };
    await expect(ask()).resolves.toEqual(alice);
  });

  it('is not waited for beyond the deadline', async () => {
    start([first], { operationTimeout: '200ms' });
    await ask();
    first.toClient = { kind: 'delay', ms: 2000 };
    await expect(ask()).rejects.toMatchObject(timeout);
  });

  it('has the whole time for each page of a long answer', async () => {
    start([first], { operationTimeout: '1s' });
    await ask();
    first.toClient = { kind: 'delay', ms: 300 };
    await expect(askAll()).resolves.toEqual(everybody);
  });

  it('with one slow question goes on answering its neighbors', async () => {
    start([first], {
      ...{ operationTimeout: '1s', maxConnections: 1, pipelining: 16 },
    });
    await ask();
    let isSlow = true;
    const slow = tested!
      .search(slowSearch())
      .then(() => 'answered', String)
      .finally(() => (isSlow = false));
    let neighbors = 0;
    while (isSlow) {
      expect(await Promise.all([ask(), ask()])).toEqual([alice, alice]);
      neighbors++;
    }
    expect(await slow).toMatch(timeout.name);
    expect(first.accepted).toBeLessThanOrEqual(2);
    expect(neighbors).toBeGreaterThan(10);
  });
});

/** Thousands of substrings to look for in every entry, without an index. */
function slowSearch(): LdapSearch {
  const texts = Array.from({ length: 12_000 }, (_, n) => `no such text ${n}`);
  return {
    ...everybodySearch(realm),
    filter: any(texts.map(text => contains('objectClass', text))),
  };
}

describe('a connection whose other end has gone without a word', () => {
  it('is found and replaced before a caller waits for it', async () => {
    start([first], {
      ...{ idleProbe: '200ms', connectTimeout: '500ms' },
      // A question beside a probe opens no connection, which would be counted.
      pipelining: 2,
    });
    await ask();
    first.vanish();
    await eventually(() =>
      expect([first.accepted, first.open]).toEqual([2, 1]),
    );
    await expect(ask()).resolves.toEqual(alice);
    expect(first.accepted).toBe(2);
  });

  it('is left behind after the deadline', async () => {
    start([first], { operationTimeout: '300ms' });
    await ask();
    first.vanish();
    await expect(ask()).rejects.toMatchObject(timeout);
    await eventually(() => expect(first.open).toBe(0));
    await expect(ask()).resolves.toEqual(alice);
  });
});

describe('a server that is stopped', () => {
  it('is too slow, then away, and back when it goes on', async () => {
    tested = startPool({
      realm,
      ldap: { operationTimeout: '300ms', connectTimeout: '300ms' },
    });
    await ask();
    await realm.directory.pause();
    try {
      await expect(ask()).rejects.toMatchObject(timeout);
      await eventually(() => expect(ask()).rejects.toMatchObject(unavailable));
    } finally {
      await realm.directory.resume();
    }
    await eventually(ask);
  });
});

describe('too many questions', () => {
  it('are refused at once, and the others answered', async () => {
    start([first], { maxConnections: 1, pipelining: 2, maxQueued: 3 });
    first.toClient = { kind: 'delay', ms: 100 };
    const answers = await Promise.allSettled(Array.from({ length: 8 }, ask));
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    for (const answer of answers) {
      expect([alice, unavailable]).toContainEqual(
        answer.status === 'fulfilled'
          ? answer.value
          : { name: answer.reason.name },
      );
    }
  });

  it('wait for their turn no longer than the deadline', async () => {
    start([first], {
      ...{ maxConnections: 1, pipelining: 1, maxQueued: 100 },
      ...{ operationTimeout: '300ms', breaker: { failures: 1000 } },
    });
    await ask();
    first.toClient = { kind: 'hang' };
    const { accepted } = first;
    const answers = await Promise.allSettled(Array.from({ length: 50 }, ask));
    for (const answer of answers) {
      expect(answer).toMatchObject({ reason: timeout });
    }
    // Those that waited in vain were not sent, and are no failures.
    first.toClient = { kind: 'pass' };
    await expect(ask()).resolves.toEqual(alice);
    expect(first.accepted).toBe(accepted + 1);
  });

  it('are not asked for those who have left', async () => {
    start([first], { maxConnections: 1, pipelining: 1 });
    await ask();
    first.toClient = { kind: 'delay', ms: 100 };
    const before = ask();
    const leaving = new AbortController();
    const left = tested!.pool.search(personSearch(realm, 'bob'), leaving);
    leaving.abort();
    await expect(before).resolves.toEqual(alice);
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
  });
});
