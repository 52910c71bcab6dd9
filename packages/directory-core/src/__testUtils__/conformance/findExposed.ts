import { hiddenFieldNames } from '../../directory/schema';

/**
 * Returns the hidden fields of other users' private profiles in a response, as
 * `username.field`. Valid even while the directory changes, because each record
 * states whether it is private.
 *
 * @param text - response body whose records have `username` and `is_private`;
 *   nothing is found in text that is not JSON
 */
export function findExposed(text: string, caller: string): readonly string[] {
  const exposed: string[] = [];
  if (text.includes('"is_private":true')) {
    JSON.parse(text, (_key, value: unknown) => {
      if (isPrivateOfAnother(value, caller)) {
        const shown = hiddenFieldNames.filter(
          field => (value[field] ?? null) !== null,
        );
        exposed.push(...shown.map(field => `${value.username}.${field}`));
      }
      return value;
    });
  }
  return exposed;
}

function isPrivateOfAnother(
  value: unknown,
  caller: string,
): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'is_private' in value &&
    value.is_private === true &&
    !('username' in value && value.username === caller)
  );
}
