/* eslint-disable jest/no-export, no-restricted-imports, @backstage/no-undeclared-imports -- a suite for the tests of every adapter */
import type { Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { conformanceEntries } from '../__testUtils__/conformanceEntries';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import { searchTerms } from '../__testUtils__/searchArbitrary';
import {
  answersOf,
  AT_ONCE,
  context,
  spelled,
  viewer,
  type Answered,
} from './conformanceQuestions';
import type { Directory } from './Directory';
import { describeExtensions } from './extensionsConformance';
import type { PageRequest } from './Page';
import {
  groupFieldNames,
  userFieldNames,
  type GroupField,
  type SchemaPreset,
  type UserField,
} from './schema';
import type { User } from './User';
import type { UserSearchTerm } from './UserSearch';
import type { Visibility } from './Visibility';

/** An adapter on a realm, ready to be asked. */
export interface ConformanceSubject {
  readonly directory: Directory;
  close(): void;
}

/** What the suite needs to know of an adapter. */
export interface ConformanceOptions {
  readonly schema: SchemaPreset;
  /** How many random searches are compared. */
  readonly searches: number;
  /** Starts a realm of generated people. */
  readonly startRealm: (options: { schema: SchemaPreset }) => Promise<Realm>;
  /** Makes the adapter, once the realm holds everything it will be asked. */
  readonly create: (realm: Realm) => Promise<ConformanceSubject>;
}

const everything: Visibility = { kind: 'everything' };
const wholeUser = { fields: new Set(userFieldNames), visibleTo: everything };
const wholeGroup = { fields: new Set(groupFieldNames) };
const NAME: ReadonlySet<UserField> = new Set(['username']);
const GROUP_NAME: ReadonlySet<GroupField> = new Set(['groupname']);

const whole: PageRequest = { number: 1, size: 10_000 };
const PAGES = [
  whole,
  ...[1, 2, 3, 7, 99].map(number => ({ number, size: 37 })),
];

/**
 * What every {@link Directory} must do: each method's answers are compared
 * with those of a model that reads the entries one by one.
 */
export function describeDirectory(
  name: string,
  options: ConformanceOptions,
): void {
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

    /** What both answer to the same questions. */
    async function both<Q, A>(
      questions: readonly Q[],
      ask: (directory: Directory, question: Q) => Promise<A>,
    ): Promise<readonly [Answered<Q, A>, Answered<Q, A>]> {
      return [
        await answersOf(questions, q => ask(subject!.directory, q)),
        await answersOf(questions, q => ask(model, q)),
      ];
    }

    /** Names that there are, spelled in two ways, and some that are nobody's. */
    const users = () => spelled(model.users.map(user => user.text('uid')!));
    const groups = () => spelled(model.groups.map(group => group.text('cn')!));

    it('answers for users by name', async () => {
      const questions = users().flatMap(username => [
        { ...wholeUser, username },
        { ...wholeUser, username, unlockedOnly: true },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.getUser(query, context),
      );
      expect(answers).toEqual(expected);
    });

    it('answers for groups by name', async () => {
      const [answers, expected] = await both(groups(), (directory, groupname) =>
        directory.getGroup({ ...wholeGroup, groupname }, context),
      );
      expect(answers).toEqual(expected);
    });

    it('lists users, page by page', async () => {
      const questions = PAGES.flatMap(page => [
        { ...wholeUser, page },
        { ...wholeUser, page, unlockedOnly: true },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.listUsers(query, context),
      );
      expect(answers).toEqual(expected);
      const totals = expected.map(({ answer }) => answer.total);
      expect(new Set(totals).size).toBe(2);
    });

    it('streams all users', async () => {
      const questions = [wholeUser, { ...wholeUser, unlockedOnly: true }];
      const [answers, expected] = await both(
        questions,
        async (directory, query) => {
          const stream = await directory.streamUsers(query, context);
          const streamed: User[] = [];
          for await (const some of stream.portions) {
            streamed.push(...some);
          }
          return { total: stream.total, streamed };
        },
      );
      expect(answers).toEqual(expected);
    });

    it('lists groups, page by page', async () => {
      const [answers, expected] = await both(PAGES, (directory, page) =>
        directory.listGroups({ ...wholeGroup, page }, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows who is in each group, directly or through others', async () => {
      const questions = groups().flatMap(groupname => [
        { ...wholeUser, groupname, page: whole },
        { ...wholeUser, groupname, page: { number: 2, size: 5 } },
        { ...wholeUser, groupname, page: whole, fields: NAME },
        { ...wholeUser, groupname, page: { number: 99, size: 40 } },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.listGroupMembers(query, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows who sponsors each group', async () => {
      const questions = groups().flatMap(groupname => [
        { ...wholeUser, groupname },
        { ...wholeUser, groupname, fields: NAME },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.listGroupSponsors(query, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows whether somebody is in a group', async () => {
      const pair = fc.record({
        username: fc.constantFrom(...users()),
        groupname: fc.constantFrom(...groups()),
      });
      const known = ['alice', 'carol', 'dave', 'erin', 'mallory', 'BOB'];
      const questions = [
        ...fc.sample(pair, { numRuns: 1000, seed: 1 }),
        ...known.flatMap(username =>
          groups().map(groupname => ({ username, groupname })),
        ),
      ];
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.isMember(query, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows the groups of each user', async () => {
      const questions = users().flatMap(username => [
        { ...wholeGroup, username, page: whole },
        { ...wholeGroup, username, page: whole, unlockedOnly: true },
        { fields: GROUP_NAME, username, page: { number: 2, size: 2 } },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.listUserGroups(query, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows the agreements that each user has signed', async () => {
      const questions = users().flatMap(username => [
        { username, page: whole },
        { username, page: whole, unlockedOnly: true },
        { username, page: { number: 2, size: 1 } },
      ]);
      const [answers, expected] = await both(questions, (directory, query) =>
        directory.listUserAgreements(query, context),
      );
      // In a group that an agreement is linked to, and has not signed it.
      expect(answers).toContainEqual({
        question: { username: 'minimal', page: whole },
        answer: { items: [], total: 0 },
      });
      expect(answers).toEqual(expected);
    });

    it('returns the requested fields and no others', async () => {
      const fields = new Set<UserField>(['emails', 'is_private']);
      const queries = ['veiled', 'alice'].map(username => ({
        username,
        fields,
        visibleTo: everything,
      }));
      const [answers, expected] = await both(queries, (directory, query) =>
        directory.getUser(query, context),
      );
      expect(answers).toEqual(expected);
      const [{ answer: veiled }] = answers;
      const filled = Object.entries(veiled!)
        .filter(([, value]) => value !== undefined)
        .map(([field]) => field);
      expect(filled).toEqual(
        options.schema === 'fas'
          ? ['username', 'emails', 'is_private']
          : ['username', 'emails'],
      );
    });

    /** Names of the users to whom terms apply, for adapter and model. */
    async function find(
      terms: readonly UserSearchTerm[],
      query: { visibleTo?: Visibility; unlockedOnly?: boolean } = {},
    ): Promise<readonly string[]> {
      const [[{ answer }], [expected]] = await both(
        [{ ...wholeUser, page: whole, terms, ...query }],
        (directory, each) => directory.searchUsers(each, context),
      );
      expect(answer).toEqual(expected.answer);
      return answer.items.map(({ username }) => username);
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
      'finds no member of the unknown group %j',
      async groupname => {
        const terms = [{ kind: 'memberOf', groupname }] as const;
        expect(await find(terms)).toEqual([]);
      },
    );

    it.each(['equals', 'substring'] as const)(
      'finds no user by a text with NUL (%s)',
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

    it('finds a private profile by its hidden fields for its owner only', async () => {
      const asUser = (owner: string | undefined, isHidden = true) =>
        find([{ kind: 'equals', field: 'surname', text: 'veiled' }], {
          visibleTo: {
            kind: 'public',
            hidden: new Set(isHidden ? ['surname'] : ['emails']),
            owner,
          },
        });
      const isPrivate = options.schema === 'fas';
      expect(await asUser('veiled')).toEqual(['veiled']);
      expect(await asUser('alice')).toEqual(isPrivate ? [] : ['veiled']);
      expect(await asUser(undefined)).toEqual(isPrivate ? [] : ['veiled']);
      expect(await asUser('alice', false)).toEqual(['veiled']);
    });

    it('finds nothing by a field without an attribute', async () => {
      const nick = { kind: 'present', field: 'ircnicks' } as const;
      const list = { kind: 'present', field: 'mailing_list' } as const;
      const [[found], [expected]] = await both([list], (directory, term) =>
        directory.searchGroups(
          { ...wholeGroup, page: whole, terms: [term] },
          context,
        ),
      );
      const hasFields = options.schema === 'fas';
      expect((await find([nick])).length > 0).toBe(hasFields);
      expect(found.answer.total > 0).toBe(hasFields);
      expect(found).toEqual(expected);
    });

    describeExtensions(() => ({ directory: subject!.directory, model }));

    it(`finds whom ${options.searches} random searches mean`, async () => {
      let hits = 0;
      const search = fc.record({
        terms: searchTerms(model),
        visibleTo: viewer(model.users.map(user => user.text('uid')!)),
        unlockedOnly: fc.boolean(),
        page: fc.record({
          number: fc.constantFrom(1, 1, 1, 2, 50),
          size: fc.integer({ min: 1, max: 40 }),
        }),
        fields: fc
          .subarray([...userFieldNames])
          .map(names => new Set<UserField>(['username', ...names])),
      });
      const portion = { minLength: AT_ONCE, maxLength: AT_ONCE };
      await fc.assert(
        fc.asyncProperty(fc.array(search, portion), async searches => {
          const [answers, expected] = await both(searches, (directory, query) =>
            directory.searchUsers(query, context),
          );
          expect(answers).toEqual(expected);
          hits += expected.filter(({ answer }) => answer.total > 0).length;
        }),
        { numRuns: Math.ceil(options.searches / AT_ONCE), seed: 20_200_131 },
      );
      // A model that finds nobody would agree with a directory that does not.
      expect(hits).toBeGreaterThan(options.searches / 4);
    });
  });
}
