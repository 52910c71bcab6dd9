/* eslint-disable jest/no-export, no-restricted-imports, @backstage/no-undeclared-imports -- a part of the suite for the tests of every adapter */
import fc from 'fast-check';
import { groupSearchTerms } from '../__testUtils__/groupSearchArbitrary';
import { memberSelection } from '../__testUtils__/memberSelectionArbitrary';
import type { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import {
  answersOf,
  context,
  spelled,
  viewer,
  type Answered,
} from './conformanceQuestions';
import type { Directory } from './Directory';
import type { PageRequest } from './Page';
import { groupFieldNames, userFieldNames } from './schema';
import type { User } from './User';

const wholeUser = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' } as const,
};
const wholeGroup = { fields: new Set(groupFieldNames) };
const whole: PageRequest = { number: 1, size: 10_000 };
const second: PageRequest = { number: 2, size: 2 };

/** What {@link Directory} answers beyond the contract, against the model. */
export function describeExtensions(
  subjects: () => {
    readonly directory: Directory;
    readonly model: NaiveDirectory;
  },
): void {
  const userNames = () => subjects().model.users.map(user => user.text('uid')!);
  const groupNames = () =>
    subjects().model.groups.map(group => group.text('cn')!);

  /** What both answer to the same questions. */
  async function both<Q, A>(
    questions: readonly Q[],
    ask: (directory: Directory, question: Q) => Promise<A>,
  ): Promise<readonly [Answered<Q, A>, Answered<Q, A>]> {
    const { directory, model } = subjects();
    return [
      await answersOf(questions, q => ask(directory, q)),
      await answersOf(questions, q => ask(model, q)),
    ];
  }

  it('knows why each user is in their groups', async () => {
    const questions = spelled(userNames()).flatMap(username => [
      { ...wholeGroup, username, page: whole },
      { ...wholeGroup, username, page: second },
    ]);
    const [answers, expected] = await both(questions, (directory, query) =>
      directory.listUserMemberships(query, context),
    );
    expect(answers).toEqual(expected);
    const memberships = expected.flatMap(({ answer }) => answer?.items ?? []);
    const lengths = new Set(memberships.map(({ path }) => path.length));
    expect(Math.max(...lengths)).toBeGreaterThan(3);
    expect(memberships.some(({ path }) => path.includes(undefined))).toBe(true);
    expect(memberships.some(({ sponsor }) => sponsor)).toBe(true);
  });

  it('knows whom each user sponsors', async () => {
    const questions = spelled(userNames()).flatMap(username => [
      { ...wholeGroup, username, page: whole },
      { ...wholeGroup, username, page: second },
    ]);
    const [answers, expected] = await both(questions, (directory, query) =>
      directory.listSponsoredGroups(query, context),
    );
    expect(answers).toEqual(expected);
  });

  it('knows what is nested in each group', async () => {
    const questions = spelled(groupNames()).flatMap(groupname => [
      { ...wholeGroup, groupname, page: whole },
      { ...wholeGroup, groupname, page: { number: 2, size: 1 } },
    ]);
    const [answers, expected] = await both(questions, (directory, query) =>
      directory.listMemberGroups(query, context),
    );
    expect(answers).toEqual(expected);
    const groups = expected.flatMap(({ answer }) => answer?.items ?? []);
    expect(groups.some(({ hasMemberGroups }) => hasMemberGroups)).toBe(true);
  });

  it('counts the members of groups', async () => {
    const questions = [spelled(groupNames()), [], ['nope']];
    const [answers, expected] = await both(questions, (directory, groupnames) =>
      directory.countGroupMembers({ groupnames }, context),
    );
    expect(answers).toEqual(expected);
  });

  it('selects members by a text and by how they are in', async () => {
    const { model } = subjects();
    const question = fc.record({
      groupname: fc.constantFrom(...groupNames(), 'contributors', 'nope'),
      selection: memberSelection(model),
      visibleTo: viewer(userNames()),
      page: fc.constantFrom(whole, second),
    });
    const questions = fc.sample(question, { numRuns: 800, seed: 3 });
    const [answers, expected] = await both(
      questions,
      (directory, { selection, ...query }) =>
        directory.listGroupMembers(
          { ...wholeUser, ...query, ...selection },
          context,
        ),
    );
    expect(answers).toEqual(expected);
    const hits = expected.filter(({ answer }) => answer && answer.total > 0);
    expect(hits.length).toBeGreaterThan(100);
  });

  it('streams all members of a group', async () => {
    const [answers, expected] = await both(
      spelled(groupNames()),
      async (directory, groupname) => {
        const stream = await directory.streamGroupMembers(
          { ...wholeUser, groupname },
          context,
        );
        const users: User[] = [];
        for await (const some of stream?.portions ?? []) {
          users.push(...some);
        }
        return stream && { total: stream.total, users };
      },
    );
    expect(answers).toEqual(expected);
  });

  it('finds groups by what is in them', async () => {
    const { model } = subjects();
    const question = fc.record({
      terms: groupSearchTerms(model),
      page: fc.constantFrom(whole, second),
    });
    const questions = fc.sample(question, { numRuns: 800, seed: 4 });
    const [answers, expected] = await both(questions, (directory, query) =>
      directory.searchGroups({ ...wholeGroup, ...query }, context),
    );
    expect(answers).toEqual(expected);
    const hits = expected.filter(({ answer }) => answer.total > 0);
    expect(hits.length).toBeGreaterThan(200);
  });

  it('finds the people of somebody’s groups, newest first', async () => {
    const { model } = subjects();
    const dns = [
      ...model.users.map(({ dn }) => dn),
      'fqdn=build1.example.test,cn=computers,cn=accounts,dc=example,dc=test',
    ];
    const question = fc.record({
      dn: fc.constantFrom(...dns),
      visibleTo: viewer(userNames(), ['creation']),
      page: fc.constantFrom(whole, { number: 2, size: 7 }),
    });
    const questions = fc.sample(question, { numRuns: 300, seed: 5 });
    const [answers, expected] = await both(questions, (directory, query) =>
      directory.listColleagues({ ...wholeUser, ...query }, context),
    );
    expect(answers).toEqual(expected);
    const hits = expected.filter(({ answer }) => answer.items.length > 3);
    expect(hits.length).toBeGreaterThan(30);
  });
}
