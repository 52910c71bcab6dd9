import fc from 'fast-check';
import type { Entry } from 'ldapts';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Accounts,
  type Caller,
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  isExpired,
  type Principal,
  type PrincipalQuery,
  type Reachability,
  type ReplicaStatus,
  ReplicaTables,
  ReplicatedAccounts,
  schemaPreset,
  type UnavailableReason,
  type VerifiedPrincipal,
} from '@directory-gateway/directory-core';
import {
  DumpedEntry,
  holder,
  NaiveDirectory,
  person,
} from '@directory-gateway/directory-core/testUtils';
import {
  containersBelow,
  normalizeDn,
  rdnValueOf,
} from '../connection/DistinguishedName';
import { entryKinds } from '../entryKinds';

const SUFFIX = 'dc=example,dc=test';
const MINUTE_MS = 60_000;
const EXPIRED = '20200101000000Z';

/** Entry of a directory, with the attributes that decide about an account. */
interface AccountEntry {
  readonly dn: string;
  readonly uid?: string;
  readonly objectClass: readonly string[];
  readonly krbPrincipalName: readonly string[];
  readonly krbPrincipalExpiration?: string;
  readonly nsAccountLock?: string;
}

type Snapshot = readonly AccountEntry[];

function user(
  uid: string,
  changes: Partial<AccountEntry> & { readonly served?: boolean } = {},
): AccountEntry {
  const { served = true, ...attributes } = changes;
  return {
    dn: `uid=${uid},cn=users,cn=accounts,${SUFFIX}`,
    uid,
    objectClass: ['posixAccount', ...(served ? ['fasUser'] : [])],
    krbPrincipalName: [`${uid}@EXAMPLE.TEST`],
    ...attributes,
  };
}

function service(name: string): AccountEntry {
  return {
    dn: `krbprincipalname=${name},cn=services,cn=accounts,${SUFFIX}`,
    objectClass: ['krbPrincipal'],
    krbPrincipalName: [name],
  };
}

function naive(snapshot: Snapshot): NaiveDirectory {
  const entries = snapshot.map(entry => {
    const lines = Object.entries(entry).flatMap(([name, values]) =>
      [values].flat().map(value => `${name}: ${value}`),
    );
    return new DumpedEntry(lines.join('\n'));
  });
  return new NaiveDirectory(entries, 'fas');
}

/** The entry as ldapts returns it. */
function ldapEntry(entry: AccountEntry): Entry {
  return Object.fromEntries(
    Object.entries(entry).map(([name, values]) => [name, values as string]),
  ) as Entry;
}

const isServed = (entry: AccountEntry) => entry.objectClass.includes('fasUser');

const isActive = (principal: Principal | undefined) =>
  principal !== undefined && !principal.locked && !isExpired(principal);

/** Accounts of a directory that can be synced and become unreachable. */
class Site {
  /** Entries of the first server. */
  entries: Snapshot;
  /** Entries of the other server, which responds when they are set. */
  other: Snapshot | undefined;
  /** Thrown by live lookups. */
  failure: Error | undefined;
  /** Groups of each entry that a live lookup finds. */
  liveGroups: readonly string[] = [];
  searches = 0;
  /** Called after the directory has responded to a search. */
  onSearch: (searches: number) => void = () => {};
  now = 1_000_000;
  synced: Snapshot = [];
  syncedAt = -Infinity;
  /** Reachability of the servers. */
  reachability: Reachability = 'reachable';
  /** Server that the replica follows. */
  readonly server = 'first';
  kind: ReplicaStatus['kind'] = 'serving';
  /** Stricter values of a previous server. */
  readonly stricter = { isActive: false };
  readonly accounts: Accounts;
  readonly #tables = new ReplicaTables();
  readonly #users = entryKinds({
    schema: schemaPreset('fas'),
    containers: containersBelow(SUFFIX),
  }).users;

  constructor(entries: Snapshot) {
    this.entries = entries;
    jest.spyOn(performance, 'now').mockImplementation(() => this.now);
    this.accounts = new Accounts({
      principals: { find: query => this.#search(query) },
      servers: this,
      replica: new ReplicatedAccounts({
        replica: this,
        tables: this.#tables,
        keyOf: normalizeDn,
        groupName: key => rdnValueOf(key)?.toLowerCase(),
      }),
    });
  }

  get status(): ReplicaStatus {
    const ageMs = this.now - this.syncedAt;
    return { kind: this.kind, ageMs } as ReplicaStatus;
  }

  async #search(query: PrincipalQuery): Promise<Principal | undefined> {
    this.searches++;
    if (this.failure) {
      throw this.failure;
    }
    const directory = naive(this.other ?? this.entries);
    const found = await directory.principals.find(query);
    this.onSearch(this.searches);
    return (
      found && {
        ...found,
        groups: new Set(this.liveGroups),
        server: this.other ? 'other' : 'first',
      }
    );
  }

  /** Adds a group to the replica. */
  addGroup(name: string, members: readonly AccountEntry[]): void {
    this.#tables.groups.set(`cn=${name},cn=groups,cn=accounts,${SUFFIX}`, {
      members: members.map(({ dn }) => normalizeDn(dn)),
      sponsors: [],
      uniqueId: name,
    });
  }

  static async synced(entries: Snapshot): Promise<Site> {
    const site = new Site(entries);
    await site.sync();
    return site;
  }

  async sync(): Promise<void> {
    const { users } = this.#tables;
    const portion = await this.#users.decode(
      this.entries.map(entry => ({ ...ldapEntry(entry), dn: entry.dn })),
    );
    for (const key of [...users.served.keys()]) {
      users.delete(key);
    }
    for (const { key, entry } of portion.entries) {
      if (entry) {
        users.set(key, entry);
      }
    }
    this.synced = this.entries;
    this.syncedAt = this.now;
  }

  lookUp(query: PrincipalQuery): Promise<VerifiedPrincipal | undefined> {
    return this.accounts.findLive(query, {
      signal: new AbortController().signal,
    });
  }

  disconnect(reason: UnavailableReason = 'unreachable'): void {
    this.reachability = reason === 'refused' ? 'refused' : 'unreachable';
    this.failure = new DirectoryUnavailableError('', { reason });
  }

  reconnect(): void {
    this.reachability = 'reachable';
    this.failure = undefined;
  }
}

afterEach(() => jest.restoreAllMocks());

const ALICE = { principal: 'alice@EXAMPLE.TEST' };
const HOST = { principal: 'host/a.example.test@EXAMPLE.TEST' };

/** Names of entries and queries; each may be ambiguous. */
const NAMES = [
  ...['a@EXAMPLE.TEST', 'A@EXAMPLE.TEST', 'b@EXAMPLE.TEST'],
  ...['c@EXAMPLE.TEST', 'x@OTHER.TEST', 'b@OTHER.TEST'],
];

const QUERIES: readonly PrincipalQuery[] = [
  ...NAMES.map(principal => ({ principal })),
  ...['a', 'B', 'c'].map(username => ({ username })),
];

/** Any state of an entry; `undefined` when it is deleted. */
const entryArbitrary = (base: AccountEntry, own: string) =>
  fc
    .option(
      fc.record({
        names: fc.oneof(
          { weight: 5, arbitrary: fc.constant([own]) },
          fc.subarray(NAMES),
        ),
        served: fc.boolean(),
        isPosix: fc.constantFrom(true, true, true, false),
        lock: fc.constantFrom(undefined, undefined, 'FALSE', 'TRUE'),
        expiry: fc.constantFrom(
          ...[undefined, undefined, EXPIRED, '29990101000000Z'],
        ),
      }),
      { nil: undefined, freq: 6 },
    )
    .map((state): AccountEntry | undefined => {
      if (!state || base.uid === undefined) {
        return state && { ...base, krbPrincipalName: state.names };
      }
      return {
        ...base,
        objectClass: [
          'person',
          ...(state.isPosix ? ['posixAccount'] : []),
          ...(state.served ? ['fasUser'] : []),
        ],
        krbPrincipalName: state.names,
        ...(state.lock && { nsAccountLock: state.lock }),
        ...(state.expiry && { krbPrincipalExpiration: state.expiry }),
      };
    });

const BASES: readonly (readonly [AccountEntry, string])[] = [
  [user('a'), 'a@EXAMPLE.TEST'],
  [user('b'), 'b@EXAMPLE.TEST'],
  [user('c'), 'c@EXAMPLE.TEST'],
  [service('x@OTHER.TEST'), 'x@OTHER.TEST'],
];

/** An event before an outage. */
type Event =
  | {
      readonly kind: 'change';
      readonly index: number;
      readonly entry: AccountEntry | undefined;
    }
  | { readonly kind: 'sync' }
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      /** At the first server, or at one that never changes. */
      readonly kind: 'lookUp' | 'lookUpElsewhere';
      readonly query: PrincipalQuery;
    };

const eventArbitrary: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.nat(BASES.length - 1).chain(index =>
      entryArbitrary(...BASES[index]).map(entry => ({
        kind: 'change' as const,
        index,
        entry,
      })),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('lookUp' as const, 'lookUpElsewhere' as const),
      query: fc.constantFrom(...QUERIES),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'sync' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 2 * MINUTE_MS, 4 * MINUTE_MS),
    }),
  },
);

/** A finished live lookup. */
interface Lookup {
  readonly query: PrincipalQuery;
  readonly at: number;
  readonly result: Principal | undefined;
}

const sameQuery = (a: PrincipalQuery, b: PrincipalQuery) =>
  JSON.stringify(a).toLowerCase() === JSON.stringify(b).toLowerCase() &&
  ('principal' in a && 'principal' in b ? a.principal === b.principal : true);

const keyOf = (principal: Principal | undefined) =>
  principal && normalizeDn(principal.dn);

describe('Accounts', () => {
  it('returns a lock after at most five seconds', async () => {
    const site = await Site.synced([user('alice')]);
    /** Looks up alice after some milliseconds. */
    const findAfter = async (ms: number) => {
      site.now += ms;
      // The cache reads the clock once per millisecond of real time.
      await sleep(10);
      return site.accounts.find({ username: 'alice' });
    };
    expect(await findAfter(0)).toMatchObject({ locked: false });
    site.entries = [user('alice', { nsAccountLock: 'TRUE' })];
    expect(await findAfter(3900)).toMatchObject({ locked: false });
    expect(site.searches).toBe(1);
    expect(await findAfter(1000)).toMatchObject({
      locked: true,
      source: 'live',
    });
  });

  it('finds users in the replica while no server responds', async () => {
    const site = await Site.synced([
      user('alice', { krbPrincipalName: ['alice@EXAMPLE.TEST', 'al@OTHER'] }),
      user('bob'),
    ]);
    site.disconnect();
    for (const query of [
      ALICE,
      { principal: 'al@OTHER' },
      { username: 'ALICE' },
    ]) {
      expect(await site.accounts.find(query)).toMatchObject({
        username: 'alice',
        served: true,
        source: 'replica',
      });
    }
    // The outage is known: no request waits for a search.
    expect(site.searches).toBe(0);
    for (const query of [
      { principal: 'Alice@EXAMPLE.TEST' },
      { principal: 'alice@example.test' },
      { principal: 'alice@OTHER' },
      { principal: 'alice' },
      { principal: 'carol@EXAMPLE.TEST' },
      { username: 'carol' },
      { username: 'al' },
      { username: 'alice)' },
    ]) {
      await expect(site.accounts.find(query)).rejects.toThrow(
        'No directory server responds',
      );
    }
  });

  it('verifies users by the replica when a search fails', async () => {
    const site = await Site.synced([user('alice')]);
    site.disconnect();
    site.reachability = 'reachable';
    expect(await site.accounts.find(ALICE)).toMatchObject({
      source: 'replica',
    });
    site.failure = new DirectoryTimeoutError('');
    await expect(site.accounts.find(ALICE)).rejects.toBe(site.failure);
    site.reachability = 'unreachable';
    expect(await site.accounts.find(ALICE)).toMatchObject({
      source: 'replica',
    });
  });

  it.each<UnavailableReason>(['refused', 'accessCheck', 'response'])(
    'does not use the replica for the reason %s',
    async reason => {
      const site = await Site.synced([user('alice')]);
      await site.accounts.find(ALICE);
      site.now += 5000;
      await sleep(10);
      site.disconnect(reason);
      site.reachability = 'reachable';
      await expect(site.accounts.find(ALICE)).rejects.toBe(site.failure);
      await expect(site.accounts.findForSignIn(ALICE)).rejects.toBe(
        site.failure,
      );
    },
  );

  it.each<ReplicaStatus['kind']>(['starting', 'stale', 'suspended'])(
    'finds no user without the directory while the replica is %s',
    async status => {
      const site = await Site.synced([user('alice'), service(HOST.principal)]);
      await site.lookUp(ALICE);
      await site.lookUp(HOST);
      site.disconnect();
      site.kind = status;
      for (const query of [ALICE, HOST]) {
        await expect(site.accounts.find(query)).rejects.toBe(site.failure);
      }
    },
  );

  it('verifies hosts by a lookup that is at most five minutes old', async () => {
    const site = await Site.synced([
      service(HOST.principal),
      user('admin', { served: false }),
    ]);
    await site.lookUp(HOST);
    await site.lookUp({ username: 'admin' });
    site.disconnect();
    site.now += 5 * MINUTE_MS;
    await site.sync();
    for (const query of [HOST, { username: 'admin' }]) {
      expect(await site.accounts.find(query)).toMatchObject({
        served: false,
        source: 'lastLookup',
      });
      await expect(site.accounts.findForSignIn(query)).rejects.toThrow(
        'No directory server responds',
      );
    }
    site.now++;
    await expect(site.accounts.find(HOST)).rejects.toThrow(
      'No directory server responds',
    );
  });

  it('lets users sign in who were looked up within an hour', async () => {
    const site = await Site.synced([user('alice'), user('bob')]);
    // Like the pages, which look up by user name.
    await site.lookUp({ username: 'alice' });
    site.now += 60 * MINUTE_MS;
    await site.sync();
    site.disconnect();
    expect(await site.accounts.findForSignIn(ALICE)).toMatchObject({
      username: 'alice',
      locked: false,
    });
    await expect(
      site.accounts.findForSignIn({ principal: 'bob@EXAMPLE.TEST' }),
    ).rejects.toThrow('No directory server responds');
    site.entries = [user('alice', { nsAccountLock: 'TRUE' })];
    await site.sync();
    expect(await site.accounts.findForSignIn(ALICE)).toMatchObject({
      locked: true,
    });
    site.now++;
    await expect(site.accounts.findForSignIn(ALICE)).rejects.toThrow(
      'No directory server responds',
    );
  });

  it('keeps the stricter values of the replica on another server', async () => {
    const site = await Site.synced([
      user('alice', { nsAccountLock: 'TRUE' }),
      user('bob', { krbPrincipalExpiration: EXPIRED }),
      service(HOST.principal),
    ]);
    site.other = [
      ...[user('alice'), user('bob'), user('carol')],
      service(HOST.principal),
    ];
    expect(await site.lookUp(ALICE)).toMatchObject({ locked: true });
    expect(await site.lookUp({ username: 'bob' })).toMatchObject({
      expires: new Date('2020-01-01T00:00:00Z'),
    });
    expect(await site.lookUp({ username: 'carol' })).toBeUndefined();
    expect(await site.lookUp(HOST)).toMatchObject({ locked: false });
    // The replica's own server is newer than the replica.
    site.other = undefined;
    site.entries = [user('alice'), user('carol')];
    expect(await site.lookUp(ALICE)).toMatchObject({ locked: false });
    expect(await site.lookUp({ username: 'carol' })).toBeDefined();
    // Unless a previous one was newer than this server.
    site.stricter.isActive = true;
    expect(await site.lookUp(ALICE)).toMatchObject({ locked: true });
    expect(await site.lookUp({ username: 'carol' })).toBeUndefined();
  });

  it.each([
    ['a user', user('alice'), ALICE],
    ['an unserved user', user('alice', { served: false }), ALICE],
    ['a host', service(HOST.principal), HOST],
  ])('keeps the groups of %s strict on another server', async (...args) => {
    const [, entry, query] = args;
    const site = await Site.synced([entry]);
    site.addGroup('kept', [entry]);
    site.addGroup('added', [entry]);
    site.addGroup('removed', []);
    site.other = [entry];
    site.liveGroups = ['kept', 'removed'];
    const strict = {
      groups: new Set(['kept']),
      possibleGroups: new Set(['kept', 'removed', 'added']),
    };
    expect(await site.lookUp(query)).toMatchObject(strict);
    site.disconnect();
    expect(await site.accounts.find(query)).toMatchObject(strict);
  });

  describe('when results are discarded', () => {
    const lockedAlice = [user('alice', { nsAccountLock: 'TRUE' })];
    const aliceKey = normalizeDn(user('alice').dn);

    it('searches again for a cached result', async () => {
      const site = await Site.synced([user('alice')]);
      const queries = [ALICE, { username: 'alice' }];
      const find = () =>
        Promise.all(queries.map(query => site.accounts.find(query)));
      await find();
      site.entries = lockedAlice;
      site.accounts.discard([normalizeDn(user('bob').dn)]);
      expect(await find()).toMatchObject([{ locked: false }, {}]);
      site.accounts.discard([aliceKey]);
      expect(await find()).toMatchObject([{ locked: true }, { locked: true }]);
    });

    it('repeats a search that began before', async () => {
      const site = await Site.synced([user('alice')]);
      const found = site.accounts.find(ALICE);
      // The directory has responded, but the response is not processed.
      site.entries = lockedAlice;
      site.accounts.discard([aliceKey]);
      expect(await found).toMatchObject({ locked: true });
      expect(await site.accounts.find(ALICE)).toMatchObject({ locked: true });
      expect(site.searches).toBe(2);
    });

    it('repeats a search until nothing was discarded meanwhile', async () => {
      const site = await Site.synced([user('alice')]);
      site.onSearch = searches => {
        if (searches < 4) {
          site.accounts.discard([aliceKey]);
        }
      };
      await site.accounts.find(ALICE);
      expect(site.searches).toBe(4);
    });

    it('does not fail concurrent requests', async () => {
      const site = await Site.synced([user('alice')]);
      await site.accounts.find(ALICE);
      site.now += 5000;
      // The cache reads the clock once per millisecond of real time.
      await sleep(10);
      site.entries = [];
      const requests = [1, 2, 3].map(() => site.accounts.find(ALICE));
      site.accounts.discard([aliceKey]);
      requests.push(site.accounts.find(ALICE));
      expect(new Set(await Promise.all(requests))).toEqual(
        new Set([undefined]),
      );
    });
  });

  it('requires a live lookup and a reachable server for writes', async () => {
    const site = await Site.synced([user('alice')]);
    const caller = holder(person('alice'));
    const plugin = { kind: 'portalService' } as Caller;
    site.accounts.requireLive(caller);
    site.accounts.requireLive(plugin);
    for (const source of ['replica', 'lastLookup'] as const) {
      const account = { ...caller.account!, source };
      expect(() =>
        site.accounts.requireLive({ ...caller, account } as typeof caller),
      ).toThrow(DirectoryUnavailableError);
    }
    for (const reachability of ['unreachable', 'refused'] as const) {
      site.reachability = reachability;
      for (const each of [caller, plugin]) {
        expect(() => site.accounts.requireLive(each)).toThrow(
          DirectoryUnavailableError,
        );
      }
    }
  });

  it('never admits an account that the replica rejects', async () => {
    const admitted = { live: 0, replica: 0, lastLookup: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...BASES.map(base => entryArbitrary(...base))),
        fc.array(eventArbitrary, { maxLength: 20, size: 'max' }),
        async (start, events) => {
          const site = new Site([]);
          const { lookups, tooLax } = await play(site, start, events);
          expect(tooLax).toEqual([]);
          site.now += 1;
          site.disconnect();
          await expectNothingAdmitted(site, lookups, admitted);
        },
      ),
    );
    // Rejecting all accounts would also satisfy the property.
    expect(admitted.replica).toBeGreaterThan(30);
    expect(admitted.lastLookup).toBeGreaterThan(10);
  });
});

/** Applies the events to a site with these entries. */
async function play(
  site: Site,
  start: readonly (AccountEntry | undefined)[],
  events: readonly Event[],
): Promise<{
  readonly lookups: readonly Lookup[];
  /** Results of the other server that are less strict than the replica. */
  readonly tooLax: readonly Principal[];
}> {
  const current = [...start];
  const present = () => current.filter(entry => entry !== undefined);
  const old = present();
  const lookups: Lookup[] = [];
  const tooLax: Principal[] = [];
  site.entries = old;
  await site.sync();
  for (const event of events) {
    site.now += 1;
    switch (event.kind) {
      case 'change':
        current[event.index] = event.entry;
        site.entries = present();
        break;
      case 'sync':
        await site.sync();
        break;
      case 'wait':
        site.now += event.ms;
        await site.sync();
        break;
      default: {
        site.other = event.kind === 'lookUpElsewhere' ? old : undefined;
        const result = await site.lookUp(event.query);
        lookups.push({ query: event.query, at: site.now, result });
        if (site.other && result && isLaxer(result, site.synced)) {
          tooLax.push(result);
        }
        site.other = undefined;
      }
    }
  }
  return { lookups, tooLax };
}

/** Whether a principal is active, but rejected by the replicated entries. */
function isLaxer(principal: Principal, synced: Snapshot): boolean {
  const row = synced.find(
    entry => isServed(entry) && normalizeDn(entry.dn) === keyOf(principal),
  );
  const isRefused = row
    ? row.nsAccountLock === 'TRUE' || row.krbPrincipalExpiration === EXPIRED
    : principal.served;
  return isRefused && isActive(principal);
}

/** Finds every name without the directory, and counts the admitted users. */
async function expectNothingAdmitted(
  site: Site,
  lookups: readonly Lookup[],
  admitted: Record<VerifiedPrincipal['source'], number>,
): Promise<void> {
  const served = site.synced.filter(isServed);
  const replicated = naive(served).principals;
  const isReplicated = (principal: Principal) =>
    served.some(({ dn }) => normalizeDn(dn) === keyOf(principal));
  for (const query of QUERIES) {
    const last = lookups.findLast(lookup => sameQuery(lookup.query, query));
    for (const method of ['find', 'findForSignIn'] as const) {
      const found = await site.accounts[method](query).catch(error => {
        assert.equal(error.reason, 'unreachable');
      });
      if (!found || !isActive(found)) {
        continue;
      }
      admitted[found.source]++;
      const ofEntry = lookups.findLast(
        ({ result }) => keyOf(result) === keyOf(found),
      );
      if (found.served || isReplicated(found)) {
        const expected = await replicated.find(query);
        expect(keyOf(expected)).toBe(keyOf(found));
        expect(isActive(expected)).toBe(true);
        expect([...found.groups]).toEqual([...expected!.groups]);
      } else {
        // Found by a lookup only: no user of the replica has the name.
        expect(method).toBe('find');
        expect(await countOf(served, query)).toBe(0);
        expect(isActive(ofEntry?.result)).toBe(true);
        expect(site.now - ofEntry!.at).toBeLessThanOrEqual(5 * MINUTE_MS);
      }
      expect(
        'username' in query || found.principalNames.includes(query.principal),
      ).toBe(true);
      // The last lookup by the name found the same entry, if there was one.
      expect([undefined, keyOf(found)]).toContain(last && keyOf(last.result));
      expect(last && !last.result).toBeFalsy();
      // What a lookup found after the last sync is not forgotten.
      if (ofEntry && ofEntry.at >= site.syncedAt) {
        expect(isActive(ofEntry.result)).toBe(true);
      }
      if (method === 'findForSignIn') {
        expect(ofEntry).toBeDefined();
      }
    }
  }
}

/** Number of entries that a lookup of the name would find. */
async function countOf(
  entries: Snapshot,
  query: PrincipalQuery,
): Promise<number> {
  const found = await Promise.all(
    entries.map(entry => naive([entry]).principals.find(query)),
  );
  return found.filter(each => each !== undefined).length;
}
