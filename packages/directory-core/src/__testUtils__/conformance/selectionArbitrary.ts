import fc from 'fast-check';
import type { ByTier, MembershipKind } from '../../directory/Directory';
import {
  type FieldCondition,
  type GroupPredicate,
  type Predicate,
  type UserCondition,
  type UserPredicate,
  allOf,
  anyOf,
} from '../../directory/predicates';
import type { GroupField, UserField } from '../../directory/schema';
import { closestFirst, similarTo } from '../../directory/textSearch';
import type { DumpedEntry } from '../naive/DumpedEntry';
import type { NaiveDirectory } from '../naive/NaiveDirectory';
import { GROUP_ATTRIBUTES, USER_ATTRIBUTES } from '../naive/naiveRecords';

/** Searchable fields. These also match substrings. */
const SUBSTRING_FIELDS: readonly UserField[] = [
  'username',
  'ircnicks',
  'givenname',
  'surname',
  'human_name',
];
const SEARCHED_FIELDS: readonly UserField[] = [
  ...SUBSTRING_FIELDS,
  'emails',
  'github_username',
  'gitlab_username',
  'rhbzemail',
  'websites',
  'rssurls',
];

/** Characters that are special in LDAP or Unicode. */
const SPECIAL = [...'*()\\,"#+<>;=&|!/:', '\0', '\u0301', '\u200b', '  ', 'é'];

/**
 * Generates one to four terms of a user search. Most texts are values of the
 * directory, often of one user so that all terms match: whole or in part, with
 * changed case, spaces and composition, and with special characters.
 */
export function searchTerms(
  directory: Pick<NaiveDirectory, 'users' | 'groups'>,
): fc.Arbitrary<readonly UserCondition[]> {
  const anyUser = fc.constantFrom(...directory.users);
  const groups = directory.groups.map(group => group.text('cn')!);
  const terms = (of: fc.Arbitrary<DumpedEntry>, size: number) =>
    fc.array(of.chain(termOn(groups)), { minLength: 1, maxLength: size });
  return fc.oneof(
    { weight: 5, arbitrary: terms(anyUser, 1) },
    {
      weight: 4,
      arbitrary: anyUser.chain(user => terms(fc.constant(user), 4)),
    },
    { weight: 1, arbitrary: terms(anyUser, 3) },
  );
}

/**
 * Generates the orders of text searches: words of a user's or group's names,
 * whole or in part, in any order, sometimes with a letter missing.
 */
export function textOrder<Field extends UserField | GroupField>(
  entries: readonly DumpedEntry[],
  fields: readonly Field[],
): fc.Arbitrary<ByTier<Predicate<FieldCondition<Field>>>> {
  const texts = entries.flatMap(entry =>
    ['uid', 'displayName', 'cn', 'description'].flatMap(name =>
      entry.texts(name),
    ),
  );
  return fc
    .record({
      words: fc
        .constantFrom(...texts)
        .chain(text => fc.shuffledSubarray(text.split(/[ ._-]/)))
        .map(words => words.slice(0, 3)),
      cut: fc.constantFrom(0, 0, 1, -1),
      swap: fc.boolean(),
      isSimilar: fc.boolean(),
    })
    .map(({ words, cut, swap, isSimilar }) => {
      const text = words
        .map(word => (cut > 0 ? word.slice(cut) : word.slice(0, cut || 99)))
        .map(word => (swap ? word.slice(0, 2) + word.slice(3) : word))
        .join(', ');
      return {
        kind: 'byTier',
        tiers: isSimilar
          ? [similarTo(text, fields)]
          : closestFirst(text, {
              words: fields.slice(0, 2),
              moreWords: fields.slice(2),
              whole: fields.slice(0, 1),
            }),
      };
    });
}

function termOn(
  groups: readonly string[],
): (user: DumpedEntry) => fc.Arbitrary<UserCondition> {
  return user =>
    fc.oneof(
      { weight: 5, arbitrary: substring(user) },
      { weight: 4, arbitrary: equality(user) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('present' as const),
          field: fc.constantFrom(...SEARCHED_FIELDS, 'creation' as const),
        }),
      },
      { weight: 2, arbitrary: before(user) },
      { weight: 2, arbitrary: membershipTerm(groups) },
    );
}

function substring(user: DumpedEntry): fc.Arbitrary<UserCondition> {
  return fc
    .record({
      kind: fc.constant('substring' as const),
      field: fc.constantFrom(...SUBSTRING_FIELDS),
    })
    .chain(term =>
      textOf(user, term.field, cutOut).map(value => ({ ...term, text: value })),
    );
}

function equality(user: DumpedEntry): fc.Arbitrary<UserCondition> {
  return fc
    .record({
      kind: fc.constant('equals' as const),
      field: fc.constantFrom(...SEARCHED_FIELDS),
    })
    .chain(term =>
      textOf(user, term.field, fc.constant).map(value => ({
        ...term,
        text: value,
      })),
    );
}

function membershipTerm(
  groups: readonly string[],
): fc.Arbitrary<UserCondition> {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...groups).chain(otherCase) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('nope', '*', '', '-design team', 'a)(cn=*'),
    },
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: name.map(groupname => ({
        kind: 'memberOf' as const,
        groupname,
      })),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'memberOfAny' as const }) },
  );
}

/**
 * Generates times at, just before or just after a user's creation, and other
 * times.
 */
function before(user: DumpedEntry): fc.Arbitrary<UserCondition> {
  const [, ...parts] =
    /^(....)(..)(..)(..)(..)(..)Z$/.exec(
      user.text('fasCreationTime') ?? user.text('createTimestamp') ?? '',
    ) ?? [];
  const [year, month, day, ...time] = parts.map(Number);
  const own = Date.UTC(year, month - 1, day, ...time);
  const near = fc
    .constantFrom(-1000, -1, 0, 1, 999, 1000)
    .map(shift => new Date(own + shift));
  const any = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('+010000-01-02T00:00:00Z'),
    noInvalidDate: true,
  });
  return fc
    .oneof(
      { weight: 3, arbitrary: near },
      { weight: 1, arbitrary: any },
      {
        weight: 1,
        arbitrary: fc.date({
          min: new Date('2005-01-01'),
          max: new Date('2030-01-01'),
          noInvalidDate: true,
        }),
      },
    )
    .map(when => ({ kind: 'before', field: 'creation', time: when }));
}

/**
 * Generates search texts for a field, mostly variations of the user's own
 * values.
 */
function textOf(
  user: DumpedEntry,
  field: UserField,
  part: (value: string) => fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const values = user.texts(USER_ATTRIBUTES[field]);
  const own =
    values.length > 0
      ? fc
          .constantFrom(...values)
          .chain(part)
          .chain(changed)
      : fc.constant('no such value');
  return fc
    .oneof(
      { weight: 9, arbitrary: own },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
    )
    .map(value => wellFormed(value).trim())
    .filter(value => value !== '');
}

function cutOut(value: string): fc.Arbitrary<string> {
  const characters = [...value];
  return fc
    .tuple(
      fc.nat(Math.max(0, characters.length - 3)),
      fc.integer({ min: 3, max: 8 }),
    )
    .map(([from, length]) => characters.slice(from, from + length).join(''));
}

function changed(value: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(value) },
    { weight: 3, arbitrary: otherCase(value) },
    { weight: 1, arbitrary: fc.constant(value.replaceAll(' ', '   ')) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('NFC', 'NFD', 'NFKC', 'NFKD')
        .map(form => value.normalize(form)),
    },
    { weight: 1, arbitrary: withSpecial(value) },
  );
}

function otherCase(value: string): fc.Arbitrary<string> {
  const mixed = fc
    .array(fc.boolean(), { minLength: value.length, maxLength: value.length })
    .map(upper =>
      [...value]
        .map((character, index) =>
          upper[index] ? character.toUpperCase() : character.toLowerCase(),
        )
        .join(''),
    );
  return fc.oneof(
    fc.constant(value.toUpperCase()),
    fc.constant(value.toLowerCase()),
    mixed,
  );
}

function withSpecial(value: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(value.length), fc.constantFrom(...SPECIAL))
    .map(([at, special]) => value.slice(0, at) + special + value.slice(at));
}

/** Returns the text as it is received: lone surrogates cannot be sent. */
function wellFormed(typed: string): string {
  return Buffer.from(typed).toString();
}

const FIELDS: readonly GroupField[] = ['groupname', 'description'];

/**
 * Generates one or two terms of a group search, mostly parts of a group's
 * values.
 */
export function groupSearch(
  directory: Pick<NaiveDirectory, 'groups'>,
): fc.Arbitrary<GroupPredicate> {
  return fc.constantFrom(...directory.groups).chain(group => {
    const term = fieldTerm(group);
    const either = fc
      .array(term, { minLength: 1, maxLength: 2 })
      .map(terms => anyOf(...terms));
    return fc
      .array(fc.oneof<fc.Arbitrary<GroupPredicate>[]>(term, either), {
        minLength: 1,
        maxLength: 2,
      })
      .map(terms => allOf(...terms));
  });
}

function fieldTerm(
  group: DumpedEntry,
): fc.Arbitrary<FieldCondition<GroupField>> {
  return fc.constantFrom(...FIELDS).chain(field => {
    const value = group.text(GROUP_ATTRIBUTES[field]) ?? 'no value at all';
    const text = fc.oneof(
      fc.constantFrom(value, value.toUpperCase(), '*', 'a)(cn=*', '\0'),
      fc
        .nat({ max: value.length })
        .map(start => value.slice(start, start + 5).trim() || value),
    );
    return fc.oneof(
      fc.constant({ kind: 'present' as const, field }),
      fc.record({
        kind: fc.constantFrom('substring' as const, 'equals' as const),
        field: fc.constant(field),
        text,
      }),
    );
  });
}

/**
 * Generates selections of members by parts of their names, the kind of
 * membership, or both.
 */
export function memberSelection(
  directory: Pick<NaiveDirectory, 'users'>,
): fc.Arbitrary<{
  readonly membership?: MembershipKind;
  readonly where?: UserPredicate;
}> {
  const text = fc
    .constantFrom(...directory.users)
    .chain(user =>
      fc.constantFrom(
        user.text('uid')!,
        user.text('displayName') ?? 'no such name',
        'example',
      ),
    )
    .chain(value =>
      fc
        .nat({ max: Math.max(0, value.length - 3) })
        .map(start => value.slice(start, start + 4).trim() || value.trim()),
    );
  const fields = ['username', 'human_name'] as const;
  const where = text.map(part =>
    anyOf<UserCondition>(
      ...fields.map(field => ({
        kind: 'substring' as const,
        field,
        text: part,
      })),
    ),
  );
  const membership = fc.constantFrom(
    ...(['direct', 'indirect', 'locked'] as const),
  );
  return fc.oneof(
    fc.record({ membership }),
    fc.record({ where }),
    fc.record({ membership, where }),
  );
}
