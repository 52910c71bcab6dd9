/**
 * A server compares each entry with each name of a filter: 40 names take 389
 * Directory Server a few milliseconds, 1,000 take seconds.
 */
const NAMES_AT_A_TIME = 40;

/** Names in portions that one search can ask for. */
export function namesAtATime(
  names: readonly string[],
): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / NAMES_AT_A_TIME);
  return Array.from({ length: count }, (_, index) =>
    names.slice(index * NAMES_AT_A_TIME, (index + 1) * NAMES_AT_A_TIME),
  );
}
