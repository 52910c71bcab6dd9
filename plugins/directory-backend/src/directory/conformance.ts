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

    it('knows everybody by each of their principals, and nobody else', async () => {
      const names = model.principalNames();
      expect(names).toContain('two@OTHER.TEST');
      const [answers, expected] = await both(
        [
          ...names,
          ...names.map(principal => principal.toUpperCase()),
          ...['two', 'alice', 'alice@OTHER.TEST', '*', 'alice@*', ''],
          ...['älice@EXAMPLE.TEST', 'al\\69ce@EXAMPLE.TEST', ')(uid=alice'],
        ],
        (directory, principal) =>
          directory.findPrincipal({ principal }, context),
      );
      expect(answers).toEqual(expected);
    });

    it('knows everybody by user name, served or not', async () => {
      const [answers, expected] = await both(
        [...users(), 'admin', 'outsider'],
        (directory, username) => directory.findPrincipal({ username }, context),
      );
      expect(answers).toEqual(expected);
    });

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
