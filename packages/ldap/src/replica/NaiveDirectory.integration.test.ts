import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import {
  AndFilter,
  EqualityFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
  type Filter,
} from 'ldapts';
import {
  allOf,
  type FieldCondition,
  type GroupField,
  groupFieldNames,
  type GroupPredicate,
  type Predicate,
  type UserCondition,
  userFieldNames,
  type UserPredicate,
  visitPredicate,
} from '@directory-gateway/directory-core';
import {
  conformanceEntries,
  type DumpedEntry,
  dumpEntries,
  GROUP_ATTRIBUTES,
  groupSearch,
  NAIVE_SCHEMAS,
  NaiveDirectory,
  NaiveMembership,
  resultsOf,
  searchTerms,
} from '@directory-gateway/directory-core/testUtils';
import { trustedDn } from '../connection/DistinguishedName';
import { startPool, type PoolUnderTest } from '../__testUtils__/openLdap';

jest.setTimeout(180_000);

const page = { number: 1, size: 10_000 };

/** A condition that an LDAP filter can express. */
type FilterCondition = Exclude<
  UserCondition | FieldCondition<GroupField>,
  {
    kind:
      | 'memberOfAny'
      | 'isTrue'
      | 'isUser'
      | 'wordPrefix'
      | 'wordPart'
      | 'similarWord'
      | 'publicKey';
  }
>;

/** Options for converting conditions to filters. */
interface FilterOptions {
  /** LDAP attributes by field. */
  readonly attributes: Partial<Record<string, string>>;
  readonly groupDn: (groupname: string) => string | undefined;
}

/**
 * Converts a predicate to a filter; `undefined` when it cannot match any entry.
 */
function searchFilter(
  where: UserPredicate | GroupPredicate,
  options: FilterOptions,
): Filter | undefined {
  return visitPredicate<FilterCondition, Filter | undefined>(
    where as Predicate<FilterCondition>,
    {
      condition: condition => conditionFilter(condition, options),
      allOf: parts => {
        const filters = parts.filter(part => part !== undefined);
        return filters.length === parts.length
          ? new AndFilter({ filters })
          : undefined;
      },
      anyOf: parts => {
        const filters = parts.filter(part => part !== undefined);
        return filters.length > 0 ? new OrFilter({ filters }) : undefined;
      },
      not: () => {
        throw new Error('No search has a negated condition');
      },
    },
  );
}

function conditionFilter(
  condition: FilterCondition,
  { attributes, groupDn }: FilterOptions,
): Filter | undefined {
  if (condition.kind === 'memberOf') {
    const value = groupDn(condition.groupname);
    return value === undefined
      ? undefined
      : new EqualityFilter({ attribute: 'memberOf', value });
  }
  return fieldFilter(condition, attributes);
}

function fieldFilter(
  term: Exclude<FilterCondition, { kind: 'memberOf' }>,
  attributes: FilterOptions['attributes'],
): Filter | undefined {
  const attribute = attributes[term.field];
  if (attribute === undefined) {
    return undefined;
  }
  if (term.kind === 'present') {
    return new PresenceFilter({ attribute });
  }
  if (term.kind === 'before') {
    return strictlyBefore(attribute, term.time);
  }
  const { kind, text } = term;
  if (text.includes('\0')) {
    // 389 Directory Server ignores the rest of a value after a NUL.
    return undefined;
  }
  return kind === 'equals'
    ? new EqualityFilter({ attribute, value: text })
    : new SubstringFilter({ attribute, any: [text] });
}

/** LDAP has only "at most", and Generalized Time has four-digit years. */
function strictlyBefore(attribute: string, time: Date): Filter {
  if (time.getUTCFullYear() > 9999) {
    return new PresenceFilter({ attribute });
  }
  const value = `${time.toISOString().replace(/[-:T]|\..*$/g, '')}Z`;
  const atMost = new LessThanEqualsFilter({ attribute, value });
  const isSecond = new EqualityFilter({ attribute, value });
  return time.getUTCMilliseconds() > 0
    ? atMost
    : new AndFilter({
        filters: [atMost, new NotFilter({ filter: isSecond })],
      });
}

/** Number of random searches; `make trials` sets a higher number. */
const SEARCHES = Number(process.env.SEARCHES || 100);

describe.each(['fas', 'freeipa'] as const)(
  'NaiveDirectory with the schema %s',
  schema => {
    const { userClass, groupClass, attributes } = NAIVE_SCHEMAS[schema];
    let realm: Realm | undefined;
    let server: PoolUnderTest | undefined;
    let entries: readonly DumpedEntry[];
    let model: NaiveDirectory;

    beforeAll(async () => {
      realm = await startRealm({ schema });
      await realm.modify(conformanceEntries(schema));
      entries = await dumpEntries(realm);
      model = new NaiveDirectory(entries, schema);
      server = startPool({ realm });
    });
    afterAll(async () => {
      server?.pool.close();
      await realm?.stop();
    });

    /**
     * Returns the names of the served entries that 389 Directory Server finds.
     */
    async function find(
      kind: 'users' | 'groups',
      filter: Filter | undefined,
    ): Promise<readonly string[]> {
      if (!filter) {
        return [];
      }
      const [objectClass, attribute] =
        kind === 'users' ? [userClass, 'uid'] : [groupClass, 'cn'];
      const found = await server!.search({
        base: trustedDn(`cn=${kind},cn=accounts,${realm!.baseDn}`),
        scope: 'one',
        filter: new AndFilter({
          filters: [
            new EqualityFilter({
              attribute: 'objectClass',
              value: objectClass,
            }),
            filter,
          ],
        }),
        attributes: ['1.1'],
        pageSize: 500,
      });
      const keys = new Set(found.map(({ dn }) => dn.toLowerCase()));
      return model[kind]
        .filter(({ key }) => keys.has(key))
        .map(entry => entry.text(attribute)!);
    }

    it('finds the same users as 389 Directory Server', async () => {
      const searches = fc
        .sample(searchTerms(model), { numRuns: SEARCHES, seed: 1 })
        .map(terms => terms.filter(term => term.kind !== 'memberOfAny'))
        .filter(terms => terms.length > 0)
        .map(terms => allOf(...terms));
      const groupDn = (groupname: string) =>
        model.groups.find(
          group => group.text('cn')!.toLowerCase() === groupname.toLowerCase(),
        )?.dn;
      const found = await resultsOf(searches, where =>
        find('users', searchFilter(where, { attributes, groupDn })),
      );
      const expected = await resultsOf(searches, async where => {
        const users = await model.listUsers({
          from: { kind: 'all' },
          where,
          page,
          fields: new Set(userFieldNames),
        });
        return users!.items.map(({ username }) => username);
      });
      expect(found).toEqual(expected);
      const hits = expected.filter(({ result }) => result.length > 0);
      expect(hits.length).toBeGreaterThan(SEARCHES / 4);
    });

    it('finds the same groups as 389 Directory Server', async () => {
      const searches = fc.sample(groupSearch(model), {
        numRuns: SEARCHES,
        seed: 2,
      });
      const found = await resultsOf(searches, where =>
        find(
          'groups',
          searchFilter(where, {
            attributes: GROUP_ATTRIBUTES,
            groupDn: () => undefined,
          }),
        ),
      );
      const expected = await resultsOf(searches, async where => {
        const groups = await model.listGroups({
          from: { kind: 'all' },
          where,
          page,
          fields: new Set(groupFieldNames),
        });
        return groups!.items.map(({ group }) => group.groupname);
      });
      expect(found).toEqual(expected);
      const hits = expected.filter(({ result }) => result.length > 0);
      expect(hits.length).toBeGreaterThan(SEARCHES / 4);
    });

    it('nests groups like the memberOf plugin', () => {
      const groups = entries.filter(entry =>
        entry.isIn(`cn=groups,cn=accounts,${realm!.baseDn}`),
      );
      const membership = new NaiveMembership(groups);
      const keys = new Set(groups.map(({ key }) => key));
      const computed = model.users.map(user => [
        user.dn,
        membership
          .groupsOf(user.key)
          .map(({ key }) => key)
          .toSorted(),
      ]);
      // The plugin also stores the agreements that a user has signed.
      const stored = model.users.map(user => [
        user.dn,
        user
          .links('memberOf')
          .filter(key => keys.has(key))
          .toSorted(),
      ]);
      expect(computed).toEqual(stored);
      expect(stored.flat(2).length).toBeGreaterThan(3 * model.users.length);
    });
  },
);
