import type { PageRequest } from '../../directory/Page';
import type { UserField } from '../../directory/schema';
import type { UserSearchTerm } from '../../directory/UserSearch';
import { InvalidRequestError } from '../response/apiErrors';
import { parseIsoTime } from './parseIsoTime';
import { parsePage } from './parsePage';

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

const MIN_SUBSTRING = 3;
const MAX_PAGE_SIZE = 40;

/** What a user search asks for. */
export interface UserSearch {
  readonly terms: readonly UserSearchTerm[];
  readonly page: PageRequest;
}

/**
 * Reads the parameters of `/search/users/` (contract, section 4.3). Values are
 * trimmed and runs of space folded; a blank one is no term.
 *
 * @throws InvalidRequestError when there is no term, a substring is too short,
 *   a time is none, or a page is out of range.
 */
export function parseUserSearch(query: URLSearchParams): UserSearch {
  const page = parseSearchPage(query);
  const terms = [
    ...Object.entries(SUBSTRING_TERMS).flatMap(([name, field]) => [
      ...readTerm(query, name, text => substringTerm(name, field, text)),
      ...readTerm(query, `${name}__exact`, text => exactTerm(field, text)),
    ]),
    ...Object.entries(EXACT_TERMS).flatMap(([name, field]) =>
      [name, `${name}__exact`].flatMap(parameter =>
        readTerm(query, parameter, text => exactTerm(field, text)),
      ),
    ),
    ...query.getAll('group').map(fold).filter(isNotBlank).map(groupTerm),
    ...readTerm(query, 'creation__before', creationTerm),
  ];
  if (terms.length === 0) {
    throw new InvalidRequestError({
      message: 'At least one search term must be provided.',
    });
  }
  return { terms, page };
}

/** A page of a search has bounds and an error of its own. */
function parseSearchPage(query: URLSearchParams): PageRequest {
  const text = query.get('page_size');
  if (text !== null && /^-?\d+$/.test(text)) {
    const size = Number(text);
    if (size < 1 || size > MAX_PAGE_SIZE) {
      throw new InvalidRequestError({
        message: `Page size must be between 1 and ${MAX_PAGE_SIZE} when searching.`,
        page_size: size,
      });
    }
  }
  return parsePage(query, { maxSize: MAX_PAGE_SIZE });
}

function readTerm(
  query: URLSearchParams,
  parameter: string,
  toTerm: (text: string) => UserSearchTerm,
): UserSearchTerm[] {
  const text = fold(query.get(parameter) ?? '');
  return isNotBlank(text) ? [toTerm(text)] : [];
}

function substringTerm(
  name: string,
  field: UserField,
  text: string,
): UserSearchTerm {
  if (text === '*') {
    return { kind: 'present', field };
  }
  if ([...text].length < MIN_SUBSTRING) {
    throw new InvalidRequestError({
      message: `Search term must be at least ${MIN_SUBSTRING} characters long.`,
      search_term: name,
      search_value: text,
    });
  }
  return { kind: 'substring', field, text };
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

function creationTerm(text: string): UserSearchTerm {
  const time = parseIsoTime(text);
  if (!time) {
    throw new InvalidRequestError({
      message: 'Input payload validation failed',
      errors: {
        creation__before:
          'Created before this date. Must be an ISO 8601 date or date-time.',
      },
    });
  }
  return { kind: 'before', field: 'creation', time };
}

/**
 * As a directory compares: edges trimmed, runs of space one (RFC 4518 §2.6.1).
 * Spaces beyond ASCII stay what they are: 389 Directory Server does not take
 * the ideographic space of a Japanese name for a Latin one.
 */
function fold(text: string): string {
  return text.trim().replace(/[\t-\r ]+/g, ' ');
}

function isNotBlank(text: string): boolean {
  return text !== '';
}
