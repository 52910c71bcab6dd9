import fc from 'fast-check';
import { type UserField, userFieldNames } from '../../directory/schema';
import type { NaiveDirectory } from '../naive/NaiveDirectory';
import { type Marker, hiddenFields } from './markers';
import { searchTerms } from './selectionArbitrary';
import type { UserCondition } from '../../directory/predicates';

/** Who has something to hide, in which directory. */
export interface PrivatePeople {
  /** Their names. */
  readonly owners: readonly string[];
  /** The texts that they hide. */
  readonly markers: readonly Marker[];
  readonly model: NaiveDirectory;
}

/** Masks that are refused. */
const BROKEN = [',', '{surname', 'surname{givenname}'];

/** Masks as they come: none, all, some in any order, nested, broken. */
export const maskHeader = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('*', '{*}', 'username,*', '{}', 'emails{},sshpubkeys{}'),
  fc.constantFrom(...BROKEN),
  fc
    .shuffledSubarray([...userFieldNames, 'uri', 'nope', 'name', 'dn'], {
      minLength: 1,
    })
    .map(names => names.join(',')),
  fc.constantFrom(...hiddenFields),
);

/** Every route that reads the directory, mostly about private people. */
export function personalRoute({
  owners,
  markers,
  model,
}: PrivatePeople): fc.Arbitrary<string> {
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

/** Every route beyond the contract; texts are often what somebody hides. */
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

/** A search for private people, by what they hide and by what they do not. */
export function personalSearch({
  owners,
  model,
}: PrivatePeople): fc.Arbitrary<ReturnType<typeof searchQuery>> {
  const users = model.users.filter(user => owners.includes(user.text('uid')!));
  return searchTerms({ users, groups: model.groups })
    .map(searchQuery)
    .filter(({ terms }) => terms.length > 0);
}

/** Whether a mask is one of those that are refused. */
export function isBrokenMask(header: string | undefined): boolean {
  return header !== undefined && BROKEN.includes(header);
}

const SUBSTRING: Partial<Record<UserField, string>> = {
  username: 'username',
  ircnicks: 'ircnick',
  givenname: 'givenname',
  surname: 'surname',
  human_name: 'human_name',
};

const EXACT: Partial<Record<UserField, string>> = {
  emails: 'email',
  github_username: 'github_username',
  gitlab_username: 'gitlab_username',
  rhbzemail: 'rhbzemail',
  websites: 'website',
  rssurls: 'rssurl',
};

/** A search as it is sent, and what it asks for. */
export interface SearchQuery {
  readonly query: string;
  readonly terms: readonly UserCondition[];
}

/**
 * Terms as parameters of `/search/users/` (contract, section 4.3). Terms that
 * cannot be sent are left out: too short, of a second value of a parameter
 * that does not repeat, or a text that has another meaning there.
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

function parameterOf(
  term: UserCondition,
): readonly [string | undefined, string] | undefined {
  switch (term.kind) {
    case 'isTrue':
    case 'isUser':
      return undefined;
    case 'memberOfAny':
      return ['group', '*'];
    case 'memberOf':
      return isMeant(term.groupname) ? ['group', term.groupname] : undefined;
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
      return isMeant(term.text)
        ? [exactName(term.field), term.text]
        : undefined;
  }
}

function exactName(field: UserField): string | undefined {
  return field in SUBSTRING ? `${SUBSTRING[field]}__exact` : EXACT[field];
}

/** A star alone asks for any value, and nothing is no term. */
function isMeant(text: string): boolean {
  return text !== '' && text !== '*';
}

function isLongEnough(text: string): boolean {
  return [...text.replace(/ +/g, ' ')].length >= 3;
}
