import type { PageRequest } from '../../directory/Page';
import {
  type GroupPredicate,
  type UserPredicate,
  allOf,
  anyOf,
} from '../../directory/predicates';
import type { GroupField } from '../../directory/schema';
import { noSearchTerm } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { PAGE_PARAMETERS, parseSearchPage } from './parsePage';
import { closestFirst, parseText, readSearchText } from './parseText';
import {
  readTerm,
  rejectUnknown,
  requireSubstring,
  TEXT_FIELDS,
} from './parseUserSearch';
import type { GroupSelection, MembershipKind } from '../../directory/Directory';

/** Terms that match as substrings, unless `__exact` is appended. */
const FIELDS = ['groupname', 'description'] as const;

const PARAMETERS: ReadonlySet<string> = new Set([
  'q',
  'similar',
  ...FIELDS.flatMap(field => [field, `${field}__exact`]),
  ...PAGE_PARAMETERS,
]);

/** A parsed group search. */
interface GroupSearch {
  readonly where: GroupPredicate;
  readonly order: GroupSelection['order'];
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
  const terms = [
    ...FIELDS.flatMap(field => [
      ...readTerm<GroupPredicate>(query, field, text =>
        text === '*'
          ? { kind: 'present', field }
          : {
              kind: 'substring',
              field,
              text: requireSubstring(field, text, errors),
            },
      ),
      ...readTerm<GroupPredicate>(query, `${field}__exact`, text =>
        text === '*'
          ? { kind: 'present', field }
          : { kind: 'equals', field, text },
      ),
    ]),
  ];
  const order = parseText<GroupField>(query, errors, {
    words: FIELDS,
    whole: ['groupname'],
  });
  if (terms.length === 0 && !order) {
    errors.reject(noSearchTerm());
  }
  return { where: allOf(...terms), order, page };
}

/** Which members of a group are requested. */
export interface MemberSelection {
  readonly membership?: MembershipKind;
  readonly where?: UserPredicate;
}

/**
 * Parses which members of a group are requested: `q`, a text as in a user
 * search, and `membership`, `direct` or `indirect`. Both are extensions of the
 * contract.
 */
export function parseMemberSelection(
  query: URLSearchParams,
  errors: ParameterErrors,
): MemberSelection {
  const text = readSearchText(query, 'q');
  return {
    membership: parseMembership(query.get('membership'), errors),
    ...(text !== undefined && {
      where: anyOf(...closestFirst(text, TEXT_FIELDS)),
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
