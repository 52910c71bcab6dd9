import fc from 'fast-check';
import { context, viewer } from '../directory/conformanceQuestions';
import type { Directory } from '../directory/Directory';
import { groupFieldNames, userFieldNames } from '../directory/schema';
import { groupSearchTerms } from './groupSearchArbitrary';
import { memberSelection } from './memberSelectionArbitrary';
import type { NaiveDirectory } from './naive/NaiveDirectory';
import { searchTerms } from './searchArbitrary';

/** Asks a directory something, whatever it is. */
export type Question = (directory: Directory) => Promise<unknown>;

const page = { number: 1, size: 10_000 };
const wholeUser = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' },
} as const;
const wholeGroup = { fields: new Set(groupFieldNames) };

/** Any question about those who are there, or were a moment ago. */
export function question(model: NaiveDirectory): fc.Arbitrary<Question> {
  const usernames = model.users.map(user => user.text('uid')!);
  const username = fc.constantFrom(...usernames);
  const groupname = fc.constantFrom(...model.groups.map(g => g.text('cn')!));
  const unlockedOnly = fc.boolean();
  const visibleTo = viewer(usernames);
  const users = { ...wholeUser, page };
  const groups = { ...wholeGroup, page };
  return fc.oneof(
    fc
      .record({ terms: searchTerms(model), visibleTo, unlockedOnly })
      .map(
        query => (d: Directory) =>
          d.searchUsers({ ...users, ...query }, context),
      ),
    groupSearchTerms(model).map(
      terms => (d: Directory) => d.searchGroups({ ...groups, terms }, context),
    ),
    fc
      .record({ username, unlockedOnly })
      .map(query => async (d: Directory) => [
        await d.getUser({ ...wholeUser, ...query }, context),
        await d.listUserGroups({ ...groups, ...query }, context),
        await d.listUserAgreements({ ...query, page }, context),
      ]),
    username.map(name => async (d: Directory) => [
      await d.listUserMemberships({ ...groups, username: name }, context),
      await d.listSponsoredGroups({ ...groups, username: name }, context),
    ]),
    fc.tuple(groupname, memberSelection(model)).map(
      ([name, selection]) =>
        (d: Directory) =>
          d.listGroupMembers(
            { ...users, groupname: name, ...selection },
            context,
          ),
    ),
    groupname.map(name => async (d: Directory) => [
      await d.getGroup({ ...wholeGroup, groupname: name }, context),
      await d.listGroupMembers({ ...users, groupname: name }, context),
      await d.listGroupSponsors({ ...wholeUser, groupname: name }, context),
      await d.listMemberGroups({ ...groups, groupname: name }, context),
      await d.countGroupMembers({ groupnames: [name] }, context),
    ]),
    fc
      .record({ username, groupname })
      .map(query => (d: Directory) => d.isMember(query, context)),
    unlockedOnly.map(
      only => (d: Directory) =>
        d.listUsers({ ...users, unlockedOnly: only }, context),
    ),
  );
}
