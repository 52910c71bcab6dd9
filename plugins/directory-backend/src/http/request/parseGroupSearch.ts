import {
  allOf,
  anyOf,
  closestFirst,
  type GroupField,
  type GroupPredicate,
  type GroupSelection,
  type MembershipKind,
  type PageRequest,
  type UserPredicate,
} from '@directory-gateway/directory-core';
import { noSearchTerm } from '../../apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { parseSearchPage } from './parsePage';
import { TEXT_FIELDS } from './parseUserSearch';
import {
  parseSort,
  parseTerms,
  parseText,
  readSearchText,
  rejectUnknown,
  type SearchTerms,
  type Sort,
  substringTerms,
} from './searchTerms';

const TERMS: SearchTerms<GroupPredicate> = {
  ...substringTerms<GroupField>({
    groupname: 'groupname',
    description: 'description',
  }),
  member: username => ({ kind: 'hasMember', username }),
};

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
  rejectUnknown(query, TERMS, ['sort'], errors);
  const terms = parseTerms(query, TERMS, errors);
  const order = parseText<GroupField>(query, errors, {
    words: ['groupname'],
    moreWords: ['description'],
    whole: ['groupname'],
  });
  if (terms.length === 0 && !order) {
    errors.reject(noSearchTerm());
  }
  const sort = parseSort(query, ['groupname', 'member_count'], errors);
  if (!sort) {
    return { where: allOf(...terms), order, page };
  }
  return {
    where: allOf(...terms, ...(order ? [anyOf(...order.tiers)] : [])),
    order: {
      kind: sort.key === 'groupname' ? 'byName' : 'bySize',
      descending: sort.descending,
    },
    page,
  };
}

/** The requested members of a group. */
interface MemberSelection {
  readonly membership?: MembershipKind;
  readonly where?: UserPredicate;
}

/**
 * Parses the selection of a group's members: `q`, a text as in a user search,
 * and `membership`, which is `direct` or `indirect`. Both are extensions of the
 * contract.
 */
export function parseMemberSelection(
  query: URLSearchParams,
  errors: ParameterErrors,
): MemberSelection {
  return {
    membership: parseMembership(query, ['direct', 'indirect'], errors),
    where: parseMemberText(query),
  };
}

/** Keys by which memberships can be sorted. */
const MEMBERSHIP_SORTS = [
  ...(['username', 'human_name', 'timezone'] as const),
  ...(['direct', 'sponsor', 'joined'] as const),
];

/** The requested memberships of a group. */
export interface MembershipSelection extends MemberSelection {
  readonly sort?: Sort<(typeof MEMBERSHIP_SORTS)[number]>;
}

/**
 * Parses the selection of a group's memberships like that of its members, with
 * `membership=locked` for locked accounts, and `sort`.
 */
export function parseMembershipSelection(
  query: URLSearchParams,
  errors: ParameterErrors,
): MembershipSelection {
  const kinds = ['direct', 'indirect', 'locked'] as const;
  return {
    membership: parseMembership(query, kinds, errors),
    where: parseMemberText(query),
    sort: parseSort(query, MEMBERSHIP_SORTS, errors),
  };
}

function parseMemberText(query: URLSearchParams): UserPredicate | undefined {
  const text = readSearchText(query, 'q');
  return text === undefined
    ? undefined
    : anyOf(...closestFirst(text, TEXT_FIELDS));
}

function parseMembership(
  query: URLSearchParams,
  kinds: readonly MembershipKind[],
  errors: ParameterErrors,
): MembershipKind | undefined {
  const text = query.get('membership');
  const kind = kinds.find(one => one === text);
  if (text && !kind) {
    const names = kinds.join(' or ');
    errors.add('membership', `Membership. Must be ${names}.`);
  }
  return kind;
}
