import {
  AndFilter,
  EqualityFilter,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
  type Filter,
} from 'ldapts';

/** `(attribute=value)`, the value as it is. */
export function equals(attribute: string, value: string): Filter {
  return new EqualityFilter({ attribute, value });
}

/** `(objectClass=…)`. */
export function isA(objectClass: string): Filter {
  return equals('objectClass', objectClass);
}

/** `(attribute=*)`. */
export function isPresent(attribute: string): Filter {
  return new PresenceFilter({ attribute });
}

/** `(attribute=*text*)`, the text as it is. */
export function contains(attribute: string, text: string): Filter {
  return new SubstringFilter({ attribute, any: [text] });
}

/** `(attribute>=value)`. */
export function atLeast(attribute: string, value: string): Filter {
  return new GreaterThanEqualsFilter({ attribute, value });
}

/** `(attribute<=value)`. */
export function atMost(attribute: string, value: string): Filter {
  return new LessThanEqualsFilter({ attribute, value });
}

/** `(!…)`. An attribute that nobody may read passes it: see `RightsProof`. */
export function not(filter: Filter): Filter {
  return new NotFilter({ filter });
}

/** `(&…)`. */
export function all(...filters: readonly Filter[]): Filter {
  return new AndFilter({ filters: [...filters] });
}

/** `(|…)`; of nothing it matches nothing (RFC 4526). */
export function any(filters: readonly Filter[]): Filter {
  return new OrFilter({ filters: [...filters] });
}
