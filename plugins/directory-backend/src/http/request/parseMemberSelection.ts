import type { MemberSelection } from '../../directory/Directory';
import { InvalidRequestError } from '../response/apiErrors';
import { readSearchText, requireSubstring } from './searchText';

/**
 * Reads which members of a group are asked for: extensions of the contract.
 *
 * @throws InvalidRequestError when the text is too short, or the kind of
 *   membership is none.
 */
export function parseMemberSelection(query: URLSearchParams): MemberSelection {
  const text = readSearchText(query, 'q');
  return {
    ...readMembership(query.get('membership')),
    ...(text !== undefined && { terms: [nameContains(text)] }),
  };
}

function readMembership(text: string | null): MemberSelection {
  switch (text) {
    case null:
    case '':
      return {};
    case 'direct':
    case 'indirect':
      return { membership: text };
    default:
      throw new InvalidRequestError({
        message: 'Input payload validation failed',
        errors: { membership: 'Membership. Must be direct or indirect.' },
      });
  }
}

function nameContains(text: string) {
  requireSubstring('q', text);
  const fields = ['username', 'human_name'] as const;
  const kind = 'substring' as const;
  return {
    kind: 'anyOf' as const,
    terms: fields.map(field => ({ kind, field, text })),
  };
}
