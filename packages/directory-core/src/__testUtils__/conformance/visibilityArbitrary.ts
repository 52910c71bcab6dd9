import fc from 'fast-check';
import type {
  Directory,
  GroupSource,
  RequestContext,
  UserSource,
  Visibility,
} from '../../directory/Directory';
import {
  allOf,
  anyOf,
  not,
  type GroupCondition,
  type Predicate,
  type UserCondition,
} from '../../directory/predicates';
import type { User } from '../../directory/records';
import { groupFieldNames, userFieldNames } from '../../directory/schema';
import type { NaiveDirectory } from '../naive/NaiveDirectory';
import { groupSearch, searchTerms, textOrder } from './selectionArbitrary';

/** A query of any {@link Directory} method. */
export type AnyQuery = (
  directory: Directory,
  context: RequestContext,
) => Promise<unknown>;

/** Generates the visibility of a policy from combinations of its rules. */
export function visibility(
  model: Pick<NaiveDirectory, 'users' | 'groups'>,
): fc.Arbitrary<Visibility> {
  const username = usernames(model);
  const userCondition: fc.Arbitrary<UserCondition> = fc.oneof(
    username.map(
      text => ({ kind: 'equals', field: 'username', text }) as const,
    ),
    groupnames(model).map(
      groupname => ({ kind: 'memberOf', groupname }) as const,
    ),
  );
  const groupCondition: fc.Arbitrary<GroupCondition> = fc
    .tuple(
      fc.constantFrom('hasMember' as const, 'hasSponsor' as const),
      username,
    )
    .map(([kind, name]) => ({ kind, username: name }));
  return fc.record(
    {
      users: combinations(userCondition),
      groups: combinations(groupCondition),
    },
    { requiredKeys: [] },
  );
}

function combinations<Condition>(
  condition: fc.Arbitrary<Condition>,
): fc.Arbitrary<Predicate<Condition>> {
  const { criteria } = fc.letrec<{ criteria: Predicate<Condition> }>(tie => {
    const parts = fc.array(tie('criteria'), { maxLength: 4 });
    return {
      criteria: fc.oneof(
        { maxDepth: 3 },
        {
          weight: 3,
          arbitrary: condition as fc.Arbitrary<Predicate<Condition>>,
        },
        { weight: 2, arbitrary: parts.map(of => anyOf(...of)) },
        { weight: 1, arbitrary: parts.map(of => allOf(...of)) },
        { weight: 1, arbitrary: tie('criteria').map(of => not(of)) },
      ),
    };
  });
  return criteria;
}

/** Generates queries of all methods, mostly about existing entries. */
export function anyQuery(
  model: Pick<NaiveDirectory, 'users' | 'groups'>,
): fc.Arbitrary<AnyQuery> {
  const username = usernames(model);
  const groupname = groupnames(model);
  const page = fc.constantFrom(
    { number: 1, size: 10_000 },
    { number: 2, size: 3 },
  );
  const users = { fields: new Set(userFieldNames) };
  const groups = { fields: new Set(groupFieldNames) };
  const membership = fc.constantFrom(
    undefined,
    'direct' as const,
    'indirect' as const,
  );
  const userSource: fc.Arbitrary<UserSource> = fc.oneof(
    fc.constant({ kind: 'all' as const }),
    fc.record({
      kind: fc.constant('membersOf' as const),
      groupname,
      membership,
    }),
    fc.record({ kind: fc.constant('sponsorsOf' as const), groupname }),
    fc.record({
      kind: fc.constant('colleaguesOf' as const),
      dn: fc.constantFrom(...model.users.map(({ key }) => key)),
    }),
  );
  const groupSource: fc.Arbitrary<GroupSource> = fc.oneof(
    fc.constant({ kind: 'all' as const }),
    fc.record({
      kind: fc.constant('ofUser' as const),
      username,
      reasons: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('sponsoredBy' as const), username }),
    fc.record({ kind: fc.constant('nestedIn' as const), groupname }),
  );
  const optional = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.option(arbitrary, { nil: undefined });
  const userSelection = fc.record({
    from: userSource,
    where: optional(searchTerms(model).map(terms => allOf(...terms))),
    order: optional(
      fc.oneof(
        fc.constant({ kind: 'newestFirst' as const }),
        textOrder(model.users, ['username', 'human_name']),
      ),
    ),
    page,
  });
  return fc.oneof(
    username.map(
      (name): AnyQuery =>
        (directory, context) =>
          directory.getUser({ ...users, username: name }, context),
    ),
    groupname.map(
      (name): AnyQuery =>
        (directory, context) =>
          directory.getGroup({ ...groups, groupname: name }, context),
    ),
    userSelection.map(
      (selection): AnyQuery =>
        (directory, context) =>
          directory.listUsers({ ...users, ...selection }, context),
    ),
    userSelection.map((selection): AnyQuery => async (directory, context) => {
      const stream = await directory.streamUsers(
        { ...users, ...selection },
        context,
      );
      const read: User[] = [];
      for await (const batch of stream?.batches ?? []) {
        read.push(...batch);
      }
      return { total: stream?.total, read };
    }),
    fc
      .record({ from: groupSource, where: optional(groupSearch(model)), page })
      .map(
        (selection): AnyQuery =>
          (directory, context) =>
            directory.listGroups({ ...groups, ...selection }, context),
      ),
    fc.record({ username, groupname }).map(
      (query): AnyQuery =>
        (directory, context) =>
          directory.isMember(query, context),
    ),
    fc.array(groupname, { maxLength: 5 }).map(
      (names): AnyQuery =>
        (directory, context) =>
          directory.countMembers({ groupnames: names }, context),
    ),
    fc
      .record({ groupname, usernames: fc.array(username, { maxLength: 5 }) })
      .map(
        (query): AnyQuery =>
          (directory, context) =>
            directory.membershipReasons(query, context),
      ),
    fc.record({ username, page }).map(
      (query): AnyQuery =>
        (directory, context) =>
          directory.listAgreements(query, context),
    ),
  );
}

function usernames(model: Pick<NaiveDirectory, 'users'>): fc.Arbitrary<string> {
  const names = model.users.map(user => user.text('uid')!);
  return fc.constantFrom('nobody', 'ALICE', ...names);
}

function groupnames(
  model: Pick<NaiveDirectory, 'groups'>,
): fc.Arbitrary<string> {
  const names = model.groups.map(group => group.text('cn')!);
  return fc.constantFrom('nope', 'PACKAGER', ...names);
}
