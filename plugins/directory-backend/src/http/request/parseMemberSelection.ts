import type { MemberSelection } from '../../directory/Directory';
import type { ParameterErrors } from './ParameterErrors';
import { readSearchText, requireSubstring } from './searchText';

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
      terms: [nameContains(requireSubstring('q', text, errors))],
    }),
  };
}

function parseMembership(
  text: string | null,
  errors: ParameterErrors,
): MemberSelection['membership'] {
  if (text === 'direct' || text === 'indirect') {
    return text;
  }
  if (text) {
    errors.add('membership', 'Membership. Must be direct or indirect.');
  }
  return undefined;
}

function nameContains(text: string) {
  const fields = ['username', 'human_name'] as const;
  const kind = 'substring' as const;
  return {
    kind: 'anyOf' as const,
    terms: fields.map(field => ({ kind, field, text })),
  };
}
