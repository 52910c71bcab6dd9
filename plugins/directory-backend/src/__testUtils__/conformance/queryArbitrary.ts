import fc from 'fast-check';
import type { Directory } from '../../directory/Directory';
import { allOf } from '../../directory/predicates';
import { groupFieldNames, userFieldNames } from '../../directory/schema';
import { context } from './queries';
import { groupSearch, memberSelection, searchTerms } from './selectionArbitrary';
import type { NaiveDirectory } from '../naive/NaiveDirectory';

/** Asks a directory something, whatever it is. */
export type Question = (directory: Directory) => Promise<unknown>;

const page = { number: 1, size: 10_000 };
const wholeUser = { fields: new Set(userFieldNames) };
const wholeGroup = { fields: new Set(groupFieldNames) };
const everyone = { ...wholeUser, from: { kind: 'all' }, page } as const;
const allGroups = { ...wholeGroup, from: { kind: 'all' }, page } as const;

/** Any question about those who are there, or were a moment ago. */
export function question(model: NaiveDirectory): fc.Arbitrary<Question> {
  const usernames = model.users.map(user => user.text('uid')!);
  const username = fc.constantFrom(...usernames);
  const groupname = fc.constantFrom(...model.groups.map(g => g.text('cn')!));
  const unlockedOnly = fc.boolean();
  const users = { ...wholeUser, page };
  const groups = { ...wholeGroup, page };
  return fc.oneof(
    fc
      .record({
        where: searchTerms(model).map(terms => allOf(...terms)),
        unlockedOnly,
      })
      .map(
        query => (d: Directory) =>
          d.listUsers({ ...everyone, ...query }, context),
      ),
    groupSearch(model).map(
      where => (d: Directory) => d.listGroups({ ...allGroups, where }, context),
    ),
    fc.record({ username, unlockedOnly }).map(query => async (d: Directory) => [
      await d.getUser({ ...wholeUser, ...query }, context),
      await d.listGroups(
        { ...groups, from: { kind: 'ofUser', ...query } },
        context,
      ),
      await d.listAgreements({ ...query, page }, context),
    ]),
    username.map(name => async (d: Directory) => [
      await d.listGroups(
        { ...groups, from: { kind: 'ofUser', username: name, reasons: true } },
        context,
      ),
      await d.listGroups(
        { ...groups, from: { kind: 'sponsoredBy', username: name } },
        context,
      ),
    ]),
    fc.tuple(groupname, memberSelection(model)).map(
      ([name, { membership, where }]) =>
        (d: Directory) =>
          d.listUsers(
            {
              ...users,
              from: { kind: 'membersOf', groupname: name, membership },
              where,
            },
            context,
          ),
    ),
    groupname.map(name => async (d: Directory) => [
      await d.getGroup({ ...wholeGroup, groupname: name }, context),
      await d.listUsers(
        { ...users, from: { kind: 'membersOf', groupname: name } },
        context,
      ),
      await d.listUsers(
        { ...users, from: { kind: 'sponsorsOf', groupname: name } },
        context,
      ),
      await d.listGroups(
        { ...groups, from: { kind: 'nestedIn', groupname: name } },
        context,
      ),
      await d.countMembers({ groupnames: [name] }, context),
    ]),
    fc
      .record({ username, groupname })
      .map(query => (d: Directory) => d.isMember(query, context)),
    unlockedOnly.map(
      only => (d: Directory) =>
        d.listUsers({ ...everyone, unlockedOnly: only }, context),
    ),
  );
}
