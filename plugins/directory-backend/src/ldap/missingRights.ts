import type { Entry } from 'ldapts';
import { textOf } from './entryValues';
import { parseAttributeLevelRights } from './GetEffectiveRightsControl';

/**
 * Which of these attributes the account may not read and search, as an entry
 * itself says when it was asked for with the `GetEffectiveRightsControl`.
 */
export function missingRights(
  entry: Entry | undefined,
  attributes: readonly string[],
): readonly string[] {
  const rights = parseAttributeLevelRights(
    (entry && textOf(entry, 'attributeLevelRights')) ?? '',
  );
  return attributes.filter(attribute => {
    const granted = rights.get(attribute.toLowerCase()) ?? '';
    return !(granted.includes('r') && granted.includes('s'));
  });
}
