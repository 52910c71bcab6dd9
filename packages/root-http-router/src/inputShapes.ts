/*
 * Shapes of input that Backstage's plugins validate with zod. For a value that
 * does not have its shape, zod collects an error for each alternative of each
 * level, and a plugin formats them: a message of 300 MB for a request of 20 KB.
 * These functions are recursive: check the depth of a value first.
 */

/** Maximum number of predicates in `$all` or `$any`. */
const MAX_PREDICATES = 100;

/** Whether a value is a filter predicate of `@backstage/filter-predicates`. */
export function isPredicate(value: unknown): boolean {
  return isObject(value) && isExpression(value, isPredicate);
}

/** Whether a value is a predicate below `$contains`, which may be primitive. */
function isAnyPredicate(value: unknown): boolean {
  return isObject(value)
    ? isExpression(value, isAnyPredicate)
    : isPrimitive(value);
}

/** Whether an object is a predicate whose operands satisfy `isOperand`. */
function isExpression(
  value: Record<string, unknown>,
  isOperand: (operand: unknown) => boolean,
): boolean {
  const entries = Object.entries(value);
  return entries.every(([name, inner]) => {
    switch (name) {
      case '$all':
      case '$any':
        return (
          entries.length === 1 &&
          isListOf(inner, isOperand) &&
          inner.length <= MAX_PREDICATES
        );
      case '$not':
        return entries.length === 1 && isOperand(inner);
      default:
        return /^(?:[^$\n\r].*)?$/.test(name) && isValuePredicate(inner);
    }
  });
}

function isValuePredicate(value: unknown): boolean {
  if (!isObject(value)) {
    return isPrimitive(value);
  }
  const entries = Object.entries(value);
  return (
    entries.length > 0 &&
    entries.every(([name, inner]) => {
      switch (name) {
        case '$exists':
          return typeof inner === 'boolean';
        case '$in':
          return isListOf(inner, isPrimitive);
        case '$contains':
          return isAnyPredicate(inner);
        case '$hasPrefix':
          return typeof inner === 'string';
        default:
          return false;
      }
    })
  );
}

/** Whether a value is the older filter of the catalog, which cursors contain. */
export function isEntityFilter(value: unknown): boolean {
  if (!isObject(value)) {
    return false;
  }
  const { key, values, not, anyOf, allOf } = value;
  if (isString(key)) {
    return values === undefined || isListOf(values, isString);
  }
  return (
    Object.keys(value).length === 1 &&
    (isEntityFilter(not) ||
      isListOf(anyOf, isEntityFilter) ||
      isListOf(allOf, isEntityFilter))
  );
}

/** Whether a value is an item of a request to authorize permissions. */
export function isPermissionItem(value: unknown): boolean {
  const { id, resourceRef, permission } = isObject(value) ? value : {};
  const { type, name, attributes } = isObject(permission) ? permission : {};
  return (
    [id, type, name].every(isString) &&
    isObject(attributes) &&
    Object.values(attributes).every(isString) &&
    (resourceRef === undefined ||
      isString(resourceRef) ||
      isListOf(resourceRef, isString))
  );
}

function isListOf(
  value: unknown,
  isElement: (each: unknown) => boolean,
): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isElement);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isPrimitive(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
