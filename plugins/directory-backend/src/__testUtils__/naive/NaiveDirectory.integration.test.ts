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
import { answersOf } from '../../directory/conformanceQuestions';
import type { GroupFieldTerm } from '../../directory/GroupSearch';
import { groupFieldNames, userFieldNames } from '../../directory/schema';
import type { UserFieldTerm, UserSearchTerm } from '../../directory/UserSearch';
import { trustedDn } from '../../ldap/DistinguishedName';
import { conformanceEntries } from '../conformanceEntries';
import { groupSearchTerms } from '../groupSearchArbitrary';
import { searchTerms } from '../searchArbitrary';
import { startPool, type PoolUnderTest } from '../startPool';
import { GROUP_ATTRIBUTES, NAIVE_SCHEMAS } from './attributes';
import { dumpEntries, type DumpedEntry } from './DumpedEntry';
import { NaiveDirectory } from './NaiveDirectory';
import { NaiveMembership } from './NaiveMembership';

jest.setTimeout(180_000);

const page = { number: 1, size: 10_000 };

type FieldTerm = UserFieldTerm | GroupFieldTerm;

/** Term that an LDAP filter can express. */
type FilterTerm =
  | Exclude<UserSearchTerm, { kind: 'memberOfAny' }>
  | { readonly kind: 'anyOf'; readonly terms: readonly GroupFieldTerm[] }
  | GroupFieldTerm;

/** How terms become filters. */
interface FilterOptions {
  /** LDAP attributes by field. */
  readonly attributes: Partial<Record<string, string>>;
  readonly groupDn: (groupname: string) => string | undefined;
}

/** Returns `undefined` when a term can match no entry of the directory. */
function searchFilter(
  terms: readonly FilterTerm[],
  options: FilterOptions,
): Filter | undefined {
  const filters = terms.map(term => termFilter(term, options));
  const known = filters.filter(filter => filter !== undefined);
  return known.length === filters.length
    ? new AndFilter({ filters: known })
    : undefined;
}

function termFilter(
  term: FilterTerm,
  { attributes, groupDn }: FilterOptions,
): Filter | undefined {
  if (term.kind === 'memberOf') {
    const value = groupDn(term.groupname);
    return value === undefined
      ? undefined
      : new EqualityFilter({ attribute: 'memberOf', value });
  }
  if (term.kind === 'anyOf') {
    const filters = term.terms
      .map(alternative => fieldFilter(alternative, attributes))
      .filter(filter => filter !== undefined);
    return filters.length > 0 ? new OrFilter({ filters }) : undefined;
  }
  return fieldFilter(term, attributes);
}

function fieldFilter(
  term: FieldTerm,
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
    // 389 Directory Server reads a value up to its first NUL only.
    return undefined;
  }
  return kind === 'equals'
    ? new EqualityFilter({ attribute, value: text })
    : new SubstringFilter({ attribute, any: [text] });
}

/** LDAP has "at most" only, and Generalized Time has years of four digits. */
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

describe.each([
  { schema: 'fas', userSearches: 1000 },
  { schema: 'freeipa', userSearches: 300 },
] as const)('NaiveDirectory, schema $schema', ({ schema, userSearches }) => {
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

  /** Names of the served entries that 389 Directory Server finds. */
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
          new EqualityFilter({ attribute: 'objectClass', value: objectClass }),
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

  it('finds the users that 389 Directory Server finds', async () => {
    const searches = fc
      .sample(searchTerms(model), { numRuns: userSearches, seed: 1 })
      .map(terms => terms.filter(term => term.kind !== 'memberOfAny'))
      .filter(terms => terms.length > 0);
    const groupDn = (groupname: string) =>
      model.groups.find(
        group => group.text('cn')!.toLowerCase() === groupname.toLowerCase(),
      )?.dn;
    const found = await answersOf(searches, terms =>
      find('users', searchFilter(terms, { attributes, groupDn })),
    );
    const expected = await answersOf(searches, async terms => {
      const { items } = await model.searchUsers({
        terms,
        page,
        fields: new Set(userFieldNames),
        visibleTo: { kind: 'everything' },
      });
      return items.map(({ username }) => username);
    });
    expect(found).toEqual(expected);
    const hits = expected.filter(({ answer }) => answer.length > 0);
    expect(hits.length).toBeGreaterThan(userSearches / 4);
  });

  it('finds the groups that 389 Directory Server finds', async () => {
    const searches = fc.sample(groupSearchTerms(model), {
      numRuns: 300,
      seed: 2,
    });
    const found = await answersOf(searches, terms =>
      find(
        'groups',
        searchFilter(terms, {
          attributes: GROUP_ATTRIBUTES,
          groupDn: () => undefined,
        }),
      ),
    );
    const expected = await answersOf(searches, async terms => {
      const { items } = await model.searchGroups({
        terms,
        page,
        fields: new Set(groupFieldNames),
      });
      return items.map(({ groupname }) => groupname);
    });
    expect(found).toEqual(expected);
    const hits = expected.filter(({ answer }) => answer.length > 0);
    expect(hits.length).toBeGreaterThan(75);
  });

  it('nests groups as the memberOf plugin does', () => {
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
    // The plugin stores the agreements that a user has signed, too.
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
});
