import type { MembershipKind } from '../../directory/Directory';
import {
  anyOf,
  type UserCondition,
  type UserPredicate,
} from '../../directory/predicates';
import type { ParameterErrors } from './ParameterErrors';
import { readSearchText, requireSubstring } from './searchText';

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
