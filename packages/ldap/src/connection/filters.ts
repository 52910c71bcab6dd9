import {
  EqualityFilter,
  GreaterThanEqualsFilter,
  PresenceFilter,
  type Filter,
} from 'ldapts';

/** Returns `(attribute=value)`; ldapts escapes the value. */
export function equals(attribute: string, value: string): Filter {
  return new EqualityFilter({ attribute, value });
}

/** Returns `(objectClass=…)`. */
export function isA(objectClass: string): Filter {
  return equals('objectClass', objectClass);
}

/** Returns `(attribute=*)`. */
export function isPresent(attribute: string): Filter {
  return new PresenceFilter({ attribute });
}

/** Returns `(attribute>=value)`. */
export function atLeast(attribute: string, value: string): Filter {
  return new GreaterThanEqualsFilter({ attribute, value });
}
