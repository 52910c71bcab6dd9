import type { Filter } from 'ldapts';
import type { GroupFieldTerm, GroupSearchTerm } from '../directory/GroupSearch';
import type { DirectorySchema } from '../directory/schema';
import { all, any } from './filters';
import { valueFilter } from './valueFilter';

/**
 * The LDAP filter of a group search, `undefined` when a term can match nothing:
 * a field that this directory does not have, a text that no value can be.
 */
export function groupSearchFilter(
  terms: readonly GroupSearchTerm[],
  schema: DirectorySchema,
): Filter | undefined {
  const filters = terms.map(term => termFilter(term, schema));
  const known = filters.filter(filter => filter !== undefined);
  return known.length === filters.length ? all(...known) : undefined;
}

function termFilter(
  term: GroupSearchTerm,
  schema: DirectorySchema,
): Filter | undefined {
  if (term.kind !== 'anyOf') {
    return fieldFilter(term, schema);
  }
  const filters = term.terms
    .map(alternative => fieldFilter(alternative, schema))
    .filter(filter => filter !== undefined);
  return filters.length > 0 ? any(filters) : undefined;
}

function fieldFilter(
  term: GroupFieldTerm,
  schema: DirectorySchema,
): Filter | undefined {
  const { attribute } = schema.groups[term.field];
  return attribute === undefined ? undefined : valueFilter(attribute, term);
}
