import type {
  GroupFieldTerm,
  GroupSearchTerm,
} from '../../directory/GroupSearch';
import type { PageRequest } from '../../directory/Page';
import { noSearchTerm } from '../response/apiErrors';
import { parseSearchPage } from './parsePage';
import { readSearchText, requireSubstring } from './searchText';

/** Terms that match as substrings, unless `__exact` is appended. */
const FIELDS = ['groupname', 'description'] as const;

/** What a group search asks for. */
export interface GroupSearch {
  readonly terms: readonly GroupSearchTerm[];
  readonly page: PageRequest;
}

/**
 * Reads the parameters of `/search/groups/`, as those of `/search/users/` are
 * read.
 *
 * @throws InvalidRequestError when there is no term, a substring is too short,
 *   or a page is out of range.
 */
export function parseGroupSearch(query: URLSearchParams): GroupSearch {
  const page = parseSearchPage(query);
  const terms = [
    ...readTerm(query, 'q', text => ({
      kind: 'anyOf',
      terms: FIELDS.map(field => substringTerm('q', field, text)),
    })),
    ...FIELDS.flatMap(field => [
      ...readTerm(query, field, text =>
        text === '*'
          ? { kind: 'present', field }
          : substringTerm(field, field, text),
      ),
      ...readTerm(query, `${field}__exact`, text =>
        text === '*'
          ? { kind: 'present', field }
          : { kind: 'equals', field, text },
      ),
    ]),
  ];
  if (terms.length === 0) {
    throw noSearchTerm();
  }
  return { terms, page };
}

function readTerm(
  query: URLSearchParams,
  parameter: string,
  toTerm: (text: string) => GroupSearchTerm,
): GroupSearchTerm[] {
  const text = readSearchText(query, parameter);
  return text === undefined ? [] : [toTerm(text)];
}

function substringTerm(
  name: string,
  field: (typeof FIELDS)[number],
  text: string,
): GroupFieldTerm {
  return { kind: 'substring', field, text: requireSubstring(name, text) };
}
