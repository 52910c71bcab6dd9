/* eslint-disable jest/no-export, jest/expect-expect -- a suite for the tests of every adapter, whose expectSame has the assertions */
import type { Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import type { Directory, UserSelection } from '../../directory/Directory';
import type { PageRequest } from '../../directory/Page';
import {
  allOf,
  anyOf,
  not,
  type UserCondition,
  type UserPredicate,
} from '../../directory/predicates';
import {
  groupFieldNames,
  userFieldNames,
  type GroupField,
  type SchemaPreset,
  type UserField,
} from '../../directory/schema';
import type { User } from '../../directory/records';
import { conformanceEntries } from './entries';
import {
  groupSearch,
  memberSelection,
  searchTerms,
  textOrder,
} from './selectionArbitrary';
import { dumpEntries } from '../naive/DumpedEntry';
import { NaiveDirectory } from '../naive/NaiveDirectory';
import { describePrivacy } from './describePrivacy';
import { anyQuery, visibility } from './visibilityArbitrary';
import {
  resultsOf,
  CONCURRENCY,
  context,
  spelled,
  type QueryResults,
} from './queries';

/** An adapter on a realm. */
export interface ConformanceSubject {
  readonly directory: Directory;
  close(): void;
}

/** Options of the suite. */
export interface ConformanceOptions {
  readonly schema: SchemaPreset;
  /** Number of random searches. */
  readonly searches: number;
  /** Starts a realm with generated users. */
  readonly startRealm: (options: { schema: SchemaPreset }) => Promise<Realm>;
  /** Creates the adapter on a realm that has all entries. */
  readonly create: (realm: Realm) => Promise<ConformanceSubject>;
}

const wholeUser = { fields: new Set(userFieldNames) };
const allUsersQuery = { ...wholeUser, from: { kind: 'all' } } as const;
const wholeGroup = { fields: new Set(groupFieldNames) };
const allGroups = { ...wholeGroup, from: { kind: 'all' } } as const;
const NAME: ReadonlySet<UserField> = new Set(['username']);
const GROUP_NAME: ReadonlySet<GroupField> = new Set(['groupname']);

const whole: PageRequest = { number: 1, size: 10_000 };
const second: PageRequest = { number: 2, size: 2 };
const PAGES = [
  whole,
  ...[1, 2, 3, 7, 99].map(number => ({ number, size: 37 })),
];

/**
 * Conformance suite of {@link Directory}: compares the results of each method
 * with those of a model that reads the entries one by one.
 */
export function describeDirectory(
  name: string,
  options: ConformanceOptions,
): void {
  /** Number of random cases of each method. */
  const samples = Math.ceil(options.searches / 3);

  describe(`${name}, schema ${options.schema}`, () => {
    let realm: Realm | undefined;
    let subject: ConformanceSubject | undefined;
    let model: NaiveDirectory;

    beforeAll(async () => {
      realm = await options.startRealm({ schema: options.schema });
      await realm.modify(conformanceEntries(options.schema));
      model = new NaiveDirectory(await dumpEntries(realm), options.schema);
      subject = await options.create(realm);
    });
    afterAll(async () => {
      subject?.close();
      await realm?.stop();
    });

    /**
     * Runs queries on the adapter and on the model, and expects the same
     * results.
     */
    async function expectSame<Q, A>(
      queries: readonly Q[],
      run: (directory: Directory, query: Q) => Promise<A>,
    ): Promise<QueryResults<Q, A>> {
      const results = await resultsOf(queries, q => run(subject!.directory, q));
      expect(results).toEqual(await resultsOf(queries, q => run(model, q)));
      return results;
    }

    /** Returns existing names in two spellings, and unknown names. */
    const users = () => spelled(model.users.map(user => user.text('uid')!));
    const groups = () => spelled(model.groups.map(group => group.text('cn')!));

    it('returns users by name', async () => {
      const queries = users().flatMap(username => [
        { ...wholeUser, username },
        { ...wholeUser, username, unlockedOnly: true },
      ]);
      await expectSame(queries, (directory, query) =>
        directory.getUser(query, context),
      );
    });

    it('returns groups by name', async () => {
      await expectSame(groups(), (directory, groupname) =>
        directory.getGroup({ ...wholeGroup, groupname }, context),
      );
    });

    it('lists pages of users', async () => {
      const queries = PAGES.flatMap(page => [
        { ...allUsersQuery, page },
        { ...allUsersQuery, page, unlockedOnly: true },
      ]);
      const results = await expectSame(queries, (directory, query) =>
        directory.listUsers(query, context),
      );
      const totals = results.map(({ result }) => result!.total);
      expect(new Set(totals).size).toBe(2);
    });

    it('streams users', async () => {
      const queries: UserSelection[] = [
        allUsersQuery,
        { ...allUsersQuery, unlockedOnly: true },
        ...groups().map(groupname => ({
          ...wholeUser,
          from: { kind: 'membersOf' as const, groupname },
        })),
      ];
      await expectSame(queries, async (directory, selection) => {
        const stream = await directory.streamUsers(selection, context);
        const streamed: User[] = [];
        for await (const some of stream?.batches ?? []) {
          streamed.push(...some);
        }
        return stream && { total: stream.total, streamed };
      });
    });

    it('lists pages of groups', async () => {
      await expectSame(PAGES, (directory, page) =>
        directory.listGroups({ ...allGroups, page }, context),
      );
    });

    it('lists direct and indirect members of groups', async () => {
      const queries = groups()
        .map(groupname => ({ kind: 'membersOf', groupname }) as const)
        .flatMap(from => [
          { ...wholeUser, from, page: whole },
          { ...wholeUser, from, page: { number: 2, size: 5 } },
          { from, page: whole, fields: NAME },
          { ...wholeUser, from, page: { number: 99, size: 40 } },
        ]);
      await expectSame(queries, (directory, query) =>
        directory.listUsers(query, context),
      );
    });

    it('lists sponsors of groups', async () => {
      const queries = groups()
        .map(groupname => ({ kind: 'sponsorsOf', groupname }) as const)
        .flatMap(from => [
          { ...wholeUser, from, page: whole },
          { from, page: second, fields: NAME },
        ]);
      await expectSame(queries, (directory, query) =>
        directory.listUsers(query, context),
      );
    });

    it('reports whether a user is a member of a group', async () => {
      const pair = fc.record({
        username: fc.constantFrom(...users()),
        groupname: fc.constantFrom(...groups()),
      });
      const known = ['alice', 'carol', 'dave', 'erin', 'mallory', 'BOB'];
      const queries = [
        ...fc.sample(pair, { numRuns: samples, seed: 1 }),
        ...known.flatMap(username =>
          groups().map(groupname => ({ username, groupname })),
        ),
      ];
      await expectSame(queries, (directory, query) =>
        directory.isMember(query, context),
      );
    });

    it('lists the groups of users', async () => {
      const queries = users()
        .map(username => ({ kind: 'ofUser', username }) as const)
        .flatMap(from => [
          { ...wholeGroup, from, page: whole },
          { ...wholeGroup, from: { ...from, unlockedOnly: true }, page: whole },
          { fields: GROUP_NAME, from, page: second },
        ]);
      await expectSame(queries, (directory, query) =>
        directory.listGroups(query, context),
      );
    });

    it('lists the signed agreements of users', async () => {
      const queries = users().flatMap(username => [
        { username, page: whole },
        { username, page: whole, unlockedOnly: true },
        { username, page: { number: 2, size: 1 } },
      ]);
      const results = await expectSame(queries, (directory, query) =>
        directory.listAgreements(query, context),
      );
      // A member of a linked group who has not signed the agreement.
      expect(results).toContainEqual({
        query: { username: 'minimal', page: whole },
        result: { items: [], total: 0 },
      });
    });

    it('returns the requested fields and no others', async () => {
      const fields = new Set<UserField>(['emails', 'is_private']);
      const queries = ['veiled', 'alice'].map(username => ({
        username,
        fields,
      }));
      const results = await expectSame(queries, (directory, query) =>
        directory.getUser(query, context),
      );
      const [{ result: veiled }] = results;
      const filled = Object.entries(veiled!)
        .filter(([, value]) => value !== undefined)
        .map(([field]) => field);
      expect(filled).toEqual(
        options.schema === 'fas'
          ? ['username', 'emails', 'is_private']
          : ['username', 'emails'],
      );
    });

    /** Returns the names of the users that match all conditions. */
    async function find(
      conditions: readonly UserPredicate[],
      query: { unlockedOnly?: boolean } = {},
    ): Promise<readonly string[]> {
      const where = allOf(...conditions);
      const [{ result }] = await expectSame(
        [{ ...allUsersQuery, ...query, page: whole, where }],
        (directory, each) => directory.listUsers(each, context),
      );
      return result!.items.map(({ username }) => username);
    }

    it('finds the users who are in a group', async () => {
      const inAny = { kind: 'memberOfAny' } as const;
      const inGroup = await find([inAny]);
      expect(inGroup).toContain('alice');
      expect(inGroup).not.toContain('veiled');
      const unlocked = await find([inAny], { unlockedOnly: true });
      expect(unlocked.length).toBeLessThan(inGroup.length);
      expect(unlocked).toContain('alice');
      const named = { kind: 'equals', field: 'username' } as const;
      expect(await find([inAny, { ...named, text: 'alice' }])).toEqual([
        'alice',
      ]);
      expect(await find([inAny, { ...named, text: 'veiled' }])).toEqual([]);
      expect(
        await find([inAny, { kind: 'memberOf', groupname: 'circle-a' }]),
      ).toEqual(await find([{ kind: 'memberOf', groupname: 'circle-a' }]));
    });

    it.each(['nope', '', '*', 'a)(cn=*', 'packager\0'])(
      'finds no members of the unknown group %j',
      async groupname => {
        const terms = [{ kind: 'memberOf', groupname }] as const;
        expect(await find(terms)).toEqual([]);
      },
    );

    it.each(['equals', 'substring'] as const)(
      'finds no users for text with NUL (%s)',
      async kind => {
        const withText = (text: string) =>
          find([{ kind, field: 'username', text }]);
        expect(await withText('alice')).toContain('alice');
        expect(await withText('alice\0')).toEqual([]);
        expect(await withText('alice\0x')).toEqual([]);
      },
    );

    it('compares times strictly, to the millisecond and beyond year 9999', async () => {
      const before = (time: number | string) =>
        find([{ kind: 'before', field: 'creation', time: new Date(time) }]);
      const { creation } = (await model.getUser({
        ...wholeUser,
        username: 'alice',
      }))!;
      const created = creation!.getTime();
      expect(await before(created)).not.toContain('alice');
      expect(await before(created + 1)).toContain('alice');
      expect(await before('+010000-01-01T00:00:00Z')).toEqual(
        await find([{ kind: 'present', field: 'creation' }]),
      );
    });

    it('combines conditions', async () => {
      const isPrivate: UserCondition = { kind: 'isTrue', field: 'is_private' };
      const isAlice: UserCondition = { kind: 'isUser', username: 'alice' };
      const inGroup: UserCondition = {
        kind: 'memberOf',
        groupname: 'packager',
      };
      const allUsers = await find([]);
      expect(await find([anyOf()])).toEqual([]);
      expect(await find([not(anyOf())])).toEqual(allUsers);
      expect(await find([isAlice])).toEqual(['alice']);
      expect(await find([{ kind: 'isUser', username: 'ALICE' }])).toEqual([]);
      const isHidden = await find([isPrivate]);
      const isShown = await find([not(isPrivate)]);
      expect([...isHidden, ...isShown].sort()).toEqual([...allUsers].sort());
      expect(isHidden.length > 0).toBe(options.schema === 'fas');
      expect(await find([anyOf<UserCondition>(isAlice, inGroup)])).toContain(
        'alice',
      );
      expect(
        await find([not(anyOf<UserCondition>(isAlice, inGroup))]),
      ).not.toContain('alice');
    });

    it('finds nothing by a field that has no attribute', async () => {
      const nick = { kind: 'present', field: 'ircnicks' } as const;
      const list = { kind: 'present', field: 'mailing_list' } as const;
      const [found] = await expectSame([list], (directory, where) =>
        directory.listGroups({ ...allGroups, page: whole, where }, context),
      );
      const hasFields = options.schema === 'fas';
      expect((await find([nick])).length > 0).toBe(hasFields);
      expect(found.result!.total > 0).toBe(hasFields);
    });

    it('lists the groups of users with the reasons for membership', async () => {
      const queries = users()
        .map(username => ({ kind: 'ofUser', username, reasons: true }) as const)
        .flatMap(from => [
          { ...wholeGroup, from, page: whole },
          { ...wholeGroup, from, page: second },
        ]);
      const results = await expectSame(queries, (directory, query) =>
        directory.listGroups(query, context),
      );
      const reasons = results.flatMap(
        ({ result }) => result?.items.map(({ reason }) => reason!) ?? [],
      );
      const lengths = new Set(reasons.map(({ path }) => path.length));
      expect(Math.max(...lengths)).toBeGreaterThan(3);
      expect(reasons.some(({ path }) => path.includes(undefined))).toBe(true);
      expect(reasons.some(({ sponsor }) => sponsor)).toBe(true);
    });

    it('lists the groups that users sponsor', async () => {
      const queries = users()
        .map(username => ({ kind: 'sponsoredBy', username }) as const)
        .flatMap(from => [
          { ...wholeGroup, from, page: whole },
          { ...wholeGroup, from, page: second },
        ]);
      await expectSame(queries, (directory, query) =>
        directory.listGroups(query, context),
      );
    });

    it('lists nested groups', async () => {
      const queries = groups()
        .map(groupname => ({ kind: 'nestedIn', groupname }) as const)
        .flatMap(from => [
          { ...wholeGroup, from, page: whole },
          { ...wholeGroup, from, page: { number: 2, size: 1 } },
        ]);
      const results = await expectSame(queries, (directory, query) =>
        directory.listGroups(query, context),
      );
      const nested = results.flatMap(({ result }) => result?.items ?? []);
      expect(nested.some(({ hasMemberGroups }) => hasMemberGroups)).toBe(true);
    });

    it('counts the members of groups', async () => {
      const queries = [groups(), [], ['nope']];
      await expectSame(queries, (directory, groupnames) =>
        directory.countMembers({ groupnames }, context),
      );
    });

    it('returns the reasons why users are in a group', async () => {
      const usernames = [...users(), 'nope'];
      await expectSame([...groups(), 'nope'], (directory, groupname) =>
        directory.membershipReasons({ groupname, usernames }, context),
      );
    });

    it('treats entries that a policy hides as not served', async () => {
      const shown = fc.sample(visibility(model), {
        numRuns: options.searches / 20,
        seed: 18,
      });
      const totals = new Set<number>();
      for (const [index, visible] of shown.entries()) {
        const restricted = model.restrictedTo(visible);
        totals.add(restricted.users.length);
        const queries = fc.sample(anyQuery(model), {
          numRuns: 50,
          seed: index,
        });
        for (const query of queries) {
          expect(
            await query(subject!.directory, { ...context, visible }),
          ).toEqual(await query(restricted, context));
        }
      }
      expect(totals.size).toBeGreaterThan(3);
    });

    it('selects members by text and kind of membership', async () => {
      const arbitrary = fc.record({
        groupname: fc.constantFrom(
          ...model.groups.map(group => group.text('cn')!),
          'contributors',
          'nope',
        ),
        selection: memberSelection(model),
        page: fc.constantFrom(whole, second),
      });
      const queries = fc.sample(arbitrary, { numRuns: samples, seed: 3 });
      const results = await expectSame(
        queries,
        (directory, { groupname, selection, page }) =>
          directory.listUsers(
            {
              ...wholeUser,
              from: {
                kind: 'membersOf',
                groupname,
                membership: selection.membership,
              },
              where: selection.where,
              page,
            },
            context,
          ),
      );
      const hits = results.filter(({ result }) => result && result.total > 0);
      expect(hits.length).toBeGreaterThan(samples / 8);
    });

    it('finds groups by their fields', async () => {
      const arbitrary = fc.record({
        where: groupSearch(model),
        order: fc.constantFrom(
          undefined,
          { kind: 'byName' as const, descending: true },
          { kind: 'bySize' as const, descending: false },
        ),
        page: fc.constantFrom(whole, second),
      });
      const queries = fc.sample(arbitrary, { numRuns: samples, seed: 4 });
      const results = await expectSame(queries, (directory, query) =>
        directory.listGroups({ ...allGroups, ...query }, context),
      );
      const hits = results.filter(({ result }) => result!.total > 0);
      expect(hits.length).toBeGreaterThan(samples / 4);
    });

    it('finds users and groups by a text and lists the closest first', async () => {
      const page = fc.constantFrom(whole, second);
      const orders = {
        users: textOrder(model.users, ['username', 'human_name', 'ircnicks']),
        groups: textOrder(model.groups, ['groupname', 'description']),
      };
      const foundUsers = await expectSame(
        fc.sample(fc.record({ order: orders.users, page }), {
          numRuns: samples,
          seed: 8,
        }),
        (directory, query) =>
          directory.listUsers({ ...allUsersQuery, ...query }, context),
      );
      const foundGroups = await expectSame(
        fc.sample(fc.record({ order: orders.groups, page }), {
          numRuns: samples,
          seed: 9,
        }),
        (directory, query) =>
          directory.listGroups({ ...allGroups, ...query }, context),
      );
      for (const results of [foundUsers, foundGroups]) {
        const hits = results.filter(({ result }) => result!.total > 0);
        expect(hits.length).toBeGreaterThan(samples / 8);
      }
    });

    it('lists the newest colleagues first', async () => {
      const user = fc.constantFrom(...model.users.map(({ dn }) => dn));
      const dns = [
        ...fc.sample(user, { numRuns: Math.ceil(samples / 2), seed: 12 }),
        'fqdn=build1.example.test,cn=computers,cn=accounts,dc=example,dc=test',
      ];
      const queries = dns.flatMap(dn =>
        [whole, { number: 2, size: 7 }].map(page => ({
          ...wholeUser,
          from: { kind: 'colleaguesOf' as const, dn },
          order: { kind: 'newestFirst' as const },
          page,
        })),
      );
      const results = await expectSame(queries, (directory, query) =>
        directory.listUsers(query, context),
      );
      const hits = results.filter(({ result }) => result!.items.length > 3);
      expect(hits.length).toBeGreaterThan(samples / 10);
    });

    describePrivacy(() => ({ directory: subject!.directory, model }), samples);

    it(`finds the users of ${options.searches} random selections`, async () => {
      let hits = 0;
      const search = fc.record({
        where: predicateOf(searchTerms(model)),
        unlockedOnly: fc.boolean(),
        page: fc.record({
          number: fc.constantFrom(1, 1, 1, 2, 50),
          size: fc.integer({ min: 1, max: 40 }),
        }),
        fields: fc
          .subarray([...userFieldNames])
          .map(names => new Set<UserField>(['username', ...names])),
      });
      const batch = { minLength: CONCURRENCY, maxLength: CONCURRENCY };
      await fc.assert(
        fc.asyncProperty(fc.array(search, batch), async searches => {
          const results = await expectSame(searches, (directory, query) =>
            directory.listUsers({ ...allUsersQuery, ...query }, context),
          );
          hits += results.filter(({ result }) => result!.total > 0).length;
        }),
        {
          numRuns: Math.ceil(options.searches / CONCURRENCY),
          seed: 20_200_131,
        },
      );
      // An empty model would agree with an empty directory.
      expect(hits).toBeGreaterThan(options.searches / 4);
    });
  });
}

/**
 * Generates mostly conjunctions, like searches, and sometimes nested
 * predicates.
 */
function predicateOf(
  terms: fc.Arbitrary<readonly UserCondition[]>,
): fc.Arbitrary<UserPredicate> {
  const all = terms.map(conditions => allOf(...conditions));
  const any = terms.map(conditions => anyOf(...conditions));
  return fc.oneof(
    { weight: 8, arbitrary: all },
    { weight: 1, arbitrary: any },
    {
      weight: 1,
      arbitrary: fc.tuple(all, any).map(([a, b]) => allOf(not(a), b)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(all, any).map(([a, b]) => anyOf(a, not(b))),
    },
  );
}
