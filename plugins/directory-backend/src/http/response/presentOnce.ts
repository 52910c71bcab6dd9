import { JsonText } from './json';

/** A record as an answer has it. */
export type Presented = JsonText | Readonly<Record<string, unknown>>;

/**
 * Presents a record with all its keys only once: whoever may see the same
 * record is shown the same. What hides something makes another record of it,
 * and so does every change; what is kept ends with its record.
 *
 * @param whole - the keys of an answer without a mask, this very array
 */
export function presentOnce<T extends object>(
  whole: readonly string[],
  present: (
    record: T,
    keys: readonly string[],
  ) => Readonly<Record<string, unknown>>,
): (record: T, keys: readonly string[]) => Presented {
  const written = new WeakMap<T, JsonText>();
  return (record, keys) => {
    if (keys !== whole) {
      return present(record, keys);
    }
    let text = written.get(record);
    if (!text) {
      text = new JsonText(JSON.stringify(present(record, keys)));
      written.set(record, text);
    }
    return text;
  };
}
