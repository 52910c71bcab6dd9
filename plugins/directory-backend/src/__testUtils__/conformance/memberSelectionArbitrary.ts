import fc from 'fast-check';
import { anyOf, type UserCondition } from '../../directory/predicates';
import type { MemberSelection } from '../../http/request/parseGroupSearch';
import type { NaiveDirectory } from '../naive/NaiveDirectory';

/** Members by parts of their names, by how they are in a group, or both. */
export function memberSelection(
  directory: Pick<NaiveDirectory, 'users'>,
): fc.Arbitrary<MemberSelection> {
  const text = fc
    .constantFrom(...directory.users)
    .chain(user =>
      fc.constantFrom(
        user.text('uid')!,
        user.text('displayName') ?? 'nobody at all',
        'example',
      ),
    )
    .chain(value =>
      fc
        .nat({ max: Math.max(0, value.length - 3) })
        .map(start => value.slice(start, start + 4).trim() || value.trim()),
    );
  const fields = ['username', 'human_name'] as const;
  const where = text.map(part =>
    anyOf<UserCondition>(
      ...fields.map(field => ({
        kind: 'substring' as const,
        field,
        text: part,
      })),
    ),
  );
  const membership = fc.constantFrom('direct' as const, 'indirect' as const);
  return fc.oneof(
    fc.record({ membership }),
    fc.record({ where }),
    fc.record({ membership, where }),
  );
}
