import fc from 'fast-check';
import {
  hiddenFieldNames,
  type UserCondition,
  type UserField,
  userFieldNames,
} from '@directory-gateway/directory-core';
import {
  type Marker,
  type NaiveDirectory,
  searchTerms,
} from '@directory-gateway/directory-core/testUtils';
import {
  EXACT_TERMS,
  SUBSTRING_TERMS,
} from '../../http/request/parseUserSearch';

/** Users with private profiles. */
export interface PrivateUsers {
  /** User names. */
  readonly owners: readonly string[];
  /** Texts in the hidden fields of these users. */
  readonly markers: readonly Marker[];
  readonly model: NaiveDirectory;
}

/** Names of the search parameters, by field. */
const SUBSTRING = namesByField(SUBSTRING_TERMS);
const EXACT = namesByField(EXACT_TERMS);

/** Malformed masks. */
const BROKEN = [',', '{surname', 'surname{givenname}'];

/**
 * Values of `X-Fields`: none, all, or some fields in any order, nested, and
 * malformed.
 */
export const maskHeader = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('*', '{*}', 'username,*', '{}', 'emails{},sshpubkeys{}'),
  fc.constantFrom(...BROKEN),
  fc
    .shuffledSubarray([...userFieldNames, 'uri', 'nope', 'name', 'dn'], {
      minLength: 1,
    })
    .map(names => names.join(',')),
  fc.constantFrom(...hiddenFieldNames),
);

/** Routes that read the directory, mostly for private users. */
export function personalRoute({
  owners,
  markers,
  model,
}: PrivateUsers): fc.Arbitrary<string> {
  const groups = model.groups.map(group =>
    encodeURIComponent(group.text('cn')!),
  );
  const user = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...owners, 'BOB', 'camelcase') },
    { weight: 1, arbitrary: fc.constantFrom('alice', 'nobody') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...markers.map(({ text }) => text)),
    },
  );
  const group = fc.oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom('packager', 'design', 'contributors', 'infra'),
    },
    { weight: 1, arbitrary: fc.constantFrom(...groups) },
  );
  const page = fc.constantFrom('', '?page_size=1000', '?page_number=2');
  return fc.oneof(
    fc.constant('/me/'),
    page.map(query => `/users/${query}`),
    user.map(name => `/users/${name}/`),
    user.map(name => `/users/${name}/groups/`),
    user.map(name => `/users/${name}/agreements/`),
    page.map(query => `/groups/${query}`),
    group.map(name => `/groups/${name}/`),
    fc
      .tuple(group, page)
      .map(([name, query]) => `/groups/${name}/members/${query}`),
    group.map(name => `/groups/${name}/sponsors/`),
    extension({ user, group, markers }),
    fc
      .tuple(group, user)
      .map(([name, who]) => `/groups/${name}/is-member/${who}`),
  );
}

/** Routes of extensions; texts are often hidden values. */
function extension(of: {
  readonly user: fc.Arbitrary<string>;
  readonly group: fc.Arbitrary<string>;
  readonly markers: readonly Marker[];
}): fc.Arbitrary<string> {
  const { user, group, markers } = of;
  const marker = fc.constantFrom(...markers.map(({ text }) => text));
  const part = marker.map(text => text.slice(2, 12));
  return fc.oneof(
    fc.constantFrom('/me/colleagues/', '/me/colleagues/?page_number=2'),
    user.map(name => `/users/${name}/memberships/`),
    user.map(name => `/users/${name}/sponsored-groups/`),
    user.map(name => `/users/${name}/certificates/`),
    group.map(name => `/groups/${name}/member-groups/`),
    group.map(name => `/groups/${name}/members.csv`),
    fc
      .tuple(group, fc.constantFrom('direct', 'indirect'))
      .map(([name, kind]) => `/groups/${name}/members/?membership=${kind}`),
    fc
      .tuple(group, fc.oneof(marker, part, user))
      .map(([name, text]) => `/groups/${name}/members/?q=${text}`),
    fc.oneof(marker, group).map(text => `/search/groups/?q=${text}`),
  );
}

/** Searches for private users by hidden and visible fields. */
export function personalSearch({
  owners,
  model,
}: PrivateUsers): fc.Arbitrary<ReturnType<typeof searchQuery>> {
  const users = model.users.filter(user => owners.includes(user.text('uid')!));
  return searchTerms({ users, groups: model.groups })
    .map(searchQuery)
    .filter(({ terms }) => terms.length > 0);
}

/** Returns whether a mask is malformed. */
export function isBrokenMask(header: string | undefined): boolean {
  return header !== undefined && BROKEN.includes(header);
}

/** A query string and its terms. */
export interface SearchQuery {
  readonly query: string;
  readonly terms: readonly UserCondition[];
}

/**
 * Returns the parameters of `/search/users/` for terms (contract, section 4.3).
 * Omits terms without a parameter: texts that are too short or have another
 * meaning there, and second values of a parameter that must not be repeated.
 */
export function searchQuery(terms: readonly UserCondition[]): SearchQuery {
  const query = new URLSearchParams();
  const sent: UserCondition[] = [];
  for (const term of terms) {
    const [name, value] = parameterOf(term) ?? [];
    if (name && value && (name === 'group' || !query.has(name))) {
      query.append(name, value);
      sent.push(term);
    }
  }
  return { query: String(query), terms: sent };
}

function namesByField(
  terms: Readonly<Record<string, UserField>>,
): Partial<Record<UserField, string>> {
  const names = Object.entries(terms).map(([name, field]) => [field, name]);
  return Object.fromEntries(names);
}

function parameterOf(
  term: UserCondition,
): readonly [string | undefined, string] | undefined {
  switch (term.kind) {
    case 'isTrue':
    case 'isUser':
    case 'wordPrefix':
    case 'wordPart':
    case 'similarWord':
    case 'publicKey':
      return undefined;
    case 'memberOfAny':
      return ['group', '*'];
    case 'memberOf':
      return isLiteral(term.groupname) ? ['group', term.groupname] : undefined;
    case 'before':
      return term.time.getUTCFullYear() < 10_000
        ? ['creation__before', term.time.toISOString()]
        : undefined;
    case 'present':
      return [SUBSTRING[term.field] ?? EXACT[term.field], '*'];
    case 'substring':
      return isLongEnough(term.text)
        ? [SUBSTRING[term.field], term.text]
        : undefined;
    default:
      return isLiteral(term.text)
        ? [exactName(term.field), term.text]
        : undefined;
  }
}

function exactName(field: UserField): string | undefined {
  return field in SUBSTRING ? `${SUBSTRING[field]}__exact` : EXACT[field];
}

/** Returns whether a text is neither empty nor `*`, which matches any value. */
function isLiteral(text: string): boolean {
  return text !== '' && text !== '*';
}

function isLongEnough(text: string): boolean {
  return [...text.replace(/ +/g, ' ')].length >= 3;
}

/**
 * Returns the query strings that would find the owner of a marker by its field.
 */
export function markerSearches({
  field,
  text,
  value,
}: Marker): readonly string[] {
  const whole = encodeURIComponent(value.toUpperCase());
  const substring = SUBSTRING[field];
  const exact = EXACT[field];
  return [
    ...(substring
      ? [
          `${substring}=${text}`,
          `${substring}=${text.slice(2, 9)}`,
          `${substring}__exact=${whole}`,
        ]
      : []),
    ...(exact ? [`${exact}=${whole}`, `${exact}__exact=${whole}`] : []),
  ];
}
