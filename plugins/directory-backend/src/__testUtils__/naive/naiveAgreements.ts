import type { DumpedEntry } from './DumpedEntry';
import { byName } from './naiveLists';

const AGREEMENTS = 'cn=fasagreements,dc=example,dc=test';

/** The names of the agreements that a user has signed, in order. */
export function naiveAgreements(
  entries: readonly DumpedEntry[],
  user: DumpedEntry,
): readonly string[] {
  return entries
    .filter(entry => entry.isIn(AGREEMENTS) && entry.isA('fasAgreement'))
    .filter(entry => entry.text('ipaEnabledFlag') === 'TRUE')
    .filter(entry => entry.links('memberUser').includes(user.key))
    .map(entry => entry.text('cn')!)
    .sort(byName);
}
