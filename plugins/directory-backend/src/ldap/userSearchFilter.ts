import type { Filter } from 'ldapts';
import type { DirectorySchema, UserField } from '../directory/schema';
import type { UserFieldTerm, UserSearchTerm } from '../directory/UserSearch';
import type { Visibility } from '../directory/Visibility';
import type { DistinguishedName } from './DistinguishedName';
import { all, any, atMost, equals, isPresent, not } from './filters';
import { valueFilter } from './valueFilter';

/** Generalized Time has four digits for a year (RFC 4517 §3.3.13). */
const LAST_YEAR = 9999;

/** A condition that a filter can express. */
export type FilterTerm = Exclude<UserSearchTerm, { kind: 'memberOfAny' }>;

/** What a search becomes a filter with. */
export interface UserSearchFilterOptions {
  readonly terms: readonly FilterTerm[];
  readonly visibleTo: Visibility;
  readonly schema: DirectorySchema;
  /** The served group of a name. */
  readonly groupDn: (groupname: string) => DistinguishedName | undefined;
}

/**
 * The LDAP filter of a user search, `undefined` when a term can match nobody:
 * an unknown group, a field that this directory does not have, a text that no
 * value can be.
 */
export function userSearchFilter(
  options: UserSearchFilterOptions,
): Filter | undefined {
  const filters = options.terms.map(term => termFilter(term, options));
  const known = filters.filter(filter => filter !== undefined);
  return known.length === filters.length ? all(...known) : undefined;
}

function termFilter(
  term: FilterTerm,
  options: UserSearchFilterOptions,
): Filter | undefined {
  if (term.kind === 'memberOf') {
    const dn = options.groupDn(term.groupname);
    return dn && equals('memberOf', dn);
  }
  if (term.kind === 'anyOf') {
    const filters = term.terms
      .map(alternative => fieldTermFilter(alternative, options))
      .filter(filter => filter !== undefined);
    return filters.length > 0 ? any(filters) : undefined;
  }
  return fieldTermFilter(term, options);
}

function fieldTermFilter(
  term: UserFieldTerm,
  options: UserSearchFilterOptions,
): Filter | undefined {
  const { attribute } = options.schema.users[term.field];
  const filter =
    attribute === undefined ? undefined : fieldFilter(attribute, term);
  return filter && visibly(term.field, filter, options);
}

function fieldFilter(
  attribute: string,
  term: UserFieldTerm,
): Filter | undefined {
  return term.kind === 'before'
    ? strictlyBefore(attribute, term.time)
    : valueFilter(attribute, term);
}

/** LDAP compares "at most" only; directories keep whole seconds. */
function strictlyBefore(attribute: string, time: Date): Filter {
  if (time.getUTCFullYear() > LAST_YEAR) {
    return isPresent(attribute);
  }
  const second = `${time.toISOString().replace(/[-:T]|\..*$/g, '')}Z`;
  const atMostSecond = atMost(attribute, second);
  return time.getUTCMilliseconds() > 0
    ? atMostSecond
    : all(atMostSecond, not(equals(attribute, second)));
}

/** A hidden field must not say that somebody else's private profile matches. */
function visibly(
  field: UserField,
  filter: Filter,
  { visibleTo, schema }: UserSearchFilterOptions,
): Filter {
  const flag = schema.users.is_private.attribute;
  if (
    visibleTo.kind === 'everything' ||
    !visibleTo.hidden.has(field) ||
    flag === undefined
  ) {
    return filter;
  }
  const isPublic = not(equals(flag, 'TRUE'));
  const isOwn =
    visibleTo.owner === undefined
      ? []
      : [equals(schema.users.username.attribute!, visibleTo.owner)];
  return all(filter, any([isPublic, ...isOwn]));
}
