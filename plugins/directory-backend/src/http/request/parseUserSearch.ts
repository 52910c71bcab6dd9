import type { PageRequest } from '../../directory/Page';
import type { UserField } from '../../directory/schema';
import type { UserSearchTerm } from '../../directory/UserSearch';
import { InvalidRequestError, noSearchTerm } from '../response/apiErrors';
import { parseIsoTime } from './parseIsoTime';
import { parseSearchPage } from './parsePage';
import { foldSearchText, readSearchText, requireSubstring } from './searchText';

/** Terms that match as substrings, unless `__exact` is appended. */
const SUBSTRING_TERMS: Readonly<Record<string, UserField>> = {
  username: 'username',
  ircnick: 'ircnicks',
  givenname: 'givenname',
  surname: 'surname',
  human_name: 'human_name',
};

/** Terms that match exactly by nature; `__exact` changes nothing. */
const EXACT_TERMS: Readonly<Record<string, UserField>> = {
  email: 'emails',
  github_username: 'github_username',
  gitlab_username: 'gitlab_username',
  rhbzemail: 'rhbzemail',
  website: 'websites',
  rssurl: 'rssurls',
};

/** What a user search asks for. */
export interface UserSearch {
  readonly terms: readonly UserSearchTerm[];
  readonly page: PageRequest;
}

/** What dialects read in ways of their own. */
export interface UserSearchRules {
  /** @throws InvalidRequestError */
  parsePage(query: URLSearchParams): PageRequest;
  /** Whether `*` finds who has any value, where a term is a substring. */
  readonly hasSubstringPresence: boolean;
  /** The time strictly before which `creation__before` finds accounts. */
  before(time: Date): Date;
  /** What is said of a time that is none. */
  noTime(text: string): string;
}

/** The contract's own. */
const contractRules: UserSearchRules = {
  parsePage: parseSearchPage,
  hasSubstringPresence: true,
  before: time => time,
  noTime: () =>
    'Created before this date. Must be an ISO 8601 date or date-time.',
};

/**
 * Reads the parameters of `/search/users/` (contract, section 4.3). Values are
 * trimmed and runs of space folded; a blank one is no term.
 *
 * @throws InvalidRequestError when there is no term, a substring is too short,
 *   a time is none, or a page is out of range.
 */
export function parseUserSearch(
  query: URLSearchParams,
  rules: UserSearchRules = contractRules,
): UserSearch {
  const page = rules.parsePage(query);
  const terms = [
    ...Object.entries(SUBSTRING_TERMS).flatMap(([name, field]) => [
      ...readTerm(query, name, text =>
        text === '*' && rules.hasSubstringPresence
          ? { kind: 'present', field }
          : substringTerm(name, field, text),
      ),
      ...readTerm(query, `${name}__exact`, text => exactTerm(field, text)),
    ]),
    ...Object.entries(EXACT_TERMS).flatMap(([name, field]) =>
      [name, `${name}__exact`].flatMap(parameter =>
        readTerm(query, parameter, text => exactTerm(field, text)),
      ),
    ),
    ...query
      .getAll('group')
      .map(foldSearchText)
      .filter(isNotBlank)
      .map(groupTerm),
    ...readTerm(query, 'creation__before', text => creationTerm(text, rules)),
  ];
  if (terms.length === 0) {
    throw noSearchTerm();
  }
  return { terms, page };
}

function readTerm(
  query: URLSearchParams,
  parameter: string,
  toTerm: (text: string) => UserSearchTerm,
): UserSearchTerm[] {
  const text = readSearchText(query, parameter);
  return text === undefined ? [] : [toTerm(text)];
}

function substringTerm(
  name: string,
  field: UserField,
  text: string,
): UserSearchTerm {
  return { kind: 'substring', field, text: requireSubstring(name, text) };
}

function exactTerm(field: UserField, text: string): UserSearchTerm {
  return text === '*'
    ? { kind: 'present', field }
    : { kind: 'equals', field, text };
}

function groupTerm(text: string): UserSearchTerm {
  return text === '*'
    ? { kind: 'memberOfAny' }
    : { kind: 'memberOf', groupname: text };
}

function creationTerm(text: string, rules: UserSearchRules): UserSearchTerm {
  const time = parseIsoTime(text);
  if (!time) {
    throw new InvalidRequestError({
      message: 'Input payload validation failed',
      errors: { creation__before: rules.noTime(text) },
    });
  }
  return { kind: 'before', field: 'creation', time: rules.before(time) };
}

function isNotBlank(text: string): boolean {
  return text !== '';
}
