import fc from 'fast-check';
import {
  allOf,
  anyOf,
  type FieldCondition,
  type GroupPredicate,
} from '../../directory/predicates';
import type { GroupField } from '../../directory/schema';
import { GROUP_ATTRIBUTES } from '../naive/attributes';
import type { DumpedEntry } from '../naive/DumpedEntry';
import type { NaiveDirectory } from '../naive/NaiveDirectory';

const FIELDS: readonly GroupField[] = ['groupname', 'description'];

/** One or two terms of a group search, mostly values of a group or their parts. */
export function groupSearch(
  directory: Pick<NaiveDirectory, 'groups'>,
): fc.Arbitrary<GroupPredicate> {
  return fc.constantFrom(...directory.groups).chain(group => {
    const term = fieldTerm(group);
    const either = fc
      .array(term, { minLength: 1, maxLength: 2 })
      .map(terms => anyOf(...terms));
    return fc
      .array(fc.oneof<fc.Arbitrary<GroupPredicate>[]>(term, either), {
        minLength: 1,
        maxLength: 2,
      })
      .map(terms => allOf(...terms));
  });
}

function fieldTerm(
  group: DumpedEntry,
): fc.Arbitrary<FieldCondition<GroupField>> {
  return fc.constantFrom(...FIELDS).chain(field => {
    const value = group.text(GROUP_ATTRIBUTES[field]) ?? 'no value at all';
    const text = fc.oneof(
      fc.constantFrom(value, value.toUpperCase(), '*', 'a)(cn=*', '\0'),
      fc
        .nat({ max: value.length })
        .map(start => value.slice(start, start + 5).trim() || value),
    );
    return fc.oneof(
      fc.constant({ kind: 'present' as const, field }),
      fc.record({
        kind: fc.constantFrom('substring' as const, 'equals' as const),
        field: fc.constant(field),
        text,
      }),
    );
  });
}
