import type { PageRequest } from '../../directory/Page';
import {
  type GroupPredicate,
  type UserCondition,
  type UserPredicate,
  allOf,
  anyOf,
} from '../../directory/predicates';
import { noSearchTerm } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { PAGE_PARAMETERS, parseSearchPage } from './parsePage';
import {
  readSearchText,
  readTerm,
  rejectUnknown,
  requireSubstring,
} from './parseUserSearch';
import type { MembershipKind } from '../../directory/Directory';

/** Terms that match as substrings, unless `__exact` is appended. */
const FIELDS = ['groupname', 'description'] as const;

const PARAMETERS: ReadonlySet<string> = new Set([
  'q',
  ...FIELDS.flatMap(field => [field, `${field}__exact`]),
  ...PAGE_PARAMETERS,
]);

/** A parsed group search. */
interface GroupSearch {
  readonly where: GroupPredicate;
  readonly page: PageRequest;
}

/**
 * Parses the parameters of `/search/groups/`; values and errors are handled as
 * in a user search.
 */
export function parseGroupSearch(
  query: URLSearchParams,
  errors: ParameterErrors,
): GroupSearch {
  const page = parseSearchPage(query, errors);
  rejectUnknown(query, PARAMETERS, errors);
  const substringTerm = (
    name: string,
    field: (typeof FIELDS)[number],
    text: string,
  ): GroupPredicate => ({
    kind: 'substring',
    field,
    text: requireSubstring(name, text, errors),
  });
  const terms = [
    ...readTerm<GroupPredicate>(query, 'q', text =>
      anyOf(...FIELDS.map(field => substringTerm('q', field, text))),
    ),
    ...FIELDS.flatMap(field => [
      ...readTerm<GroupPredicate>(query, field, text =>
        text === '*'
          ? { kind: 'present', field }
          : substringTerm(field, field, text),
      ),
      ...readTerm<GroupPredicate>(query, `${field}__exact`, text =>
        text === '*'
          ? { kind: 'present', field }
          : { kind: 'equals', field, text },
      ),
    ]),
  ];
  if (terms.length === 0) {
    errors.reject(noSearchTerm());
  }
  return { where: allOf(...terms), page };
}

/** Which members of a group are requested. */
export interface MemberSelection {
  readonly membership?: MembershipKind;
  readonly where?: UserPredicate;
}

/**
 * Parses which members of a group are requested: `q`, at least 3 characters of
 * the user name or the full name, and `membership`, `direct` or `indirect`.
 * Both are extensions of the contract.
 */
export function parseMemberSelection(
  query: URLSearchParams,
  errors: ParameterErrors,
): MemberSelection {
  const text = readSearchText(query, 'q');
  return {
    membership: parseMembership(query.get('membership'), errors),
    ...(text !== undefined && {
      where: nameContains(requireSubstring('q', text, errors)),
    }),
  };
}

function parseMembership(
  text: string | null,
  errors: ParameterErrors,
): MembershipKind | undefined {
  if (text === 'direct' || text === 'indirect') {
    return text;
  }
  if (text) {
    errors.add('membership', 'Membership. Must be direct or indirect.');
  }
  return undefined;
}

function nameContains(text: string): UserPredicate {
  const fields = ['username', 'human_name'] as const;
  return anyOf<UserCondition>(
    ...fields.map(field => ({ kind: 'substring' as const, field, text })),
  );
}
