import type { UserField } from '../../directory/schema';
import type { UserFieldTerm, UserSearchTerm } from '../../directory/UserSearch';
import type { Visibility } from '../../directory/Visibility';
import type { DumpedEntry } from './DumpedEntry';
import { isContained, isEqual } from './matching';
import { naiveTime } from './naiveRecord';

/** What decides besides the entry. */
export interface NaiveSearchContext {
  readonly visibleTo: Visibility;
  readonly attributes: Partial<Record<UserField, string>>;
  /** Names of the served groups that the user is in, in lower case. */
  readonly groups: () => readonly string[];
}

/** Whether one term applies to one user. */
export function naiveSearch(
  entry: DumpedEntry,
  term: UserSearchTerm,
  { visibleTo, attributes, groups }: NaiveSearchContext,
): boolean {
  if (term.kind === 'memberOfAny') {
    return groups().length > 0;
  }
  if (term.kind === 'memberOf') {
    return groups().includes(term.groupname.toLowerCase());
  }
  if (term.kind === 'anyOf') {
    const { terms } = term;
    const context = { visibleTo, attributes, groups };
    return terms.some(alternative => naiveSearch(entry, alternative, context));
  }
  const attribute = attributes[term.field];
  if (attribute === undefined || isHidden(entry, term.field, visibleTo)) {
    return false;
  }
  return entry.texts(attribute).some(value => applies(value, term));
}

function applies(value: string, term: UserFieldTerm): boolean {
  switch (term.kind) {
    case 'present':
      return true;
    case 'equals':
      return isEqual(value, term.text);
    case 'substring':
      return isContained(value, term.text);
    default:
      return naiveTime(value) < term.time.getTime();
  }
}

function isHidden(
  entry: DumpedEntry,
  field: UserField,
  visibleTo: Visibility,
): boolean {
  return (
    visibleTo.kind === 'public' &&
    visibleTo.hidden.has(field) &&
    entry.text('fasIsPrivate')?.toUpperCase() === 'TRUE' &&
    entry.text('uid') !== visibleTo.owner
  );
}
