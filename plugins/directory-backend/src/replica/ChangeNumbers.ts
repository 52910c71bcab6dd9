/**
 * Entries by their keys with the number of the write that each was last
 * changed by; `undefined` where that may not be read.
 */
export type ChangeNumbers = ReadonlyMap<string, number | undefined>;

/** What has been written from a number on, and is still there. */
export interface ListedChanges {
  readonly fromUsn: number;
  readonly numbers: ChangeNumbers;
}

/**
 * The lowest number among entries that were not read as they are now;
 * `undefined` when all were.
 *
 * A server counts a write when it begins and shows it when it ends, so that a
 * lower number may come after a higher one. So all recent numbers are listed
 * at each look, which costs little, and entries are read only for new ones.
 *
 * @param read - what had been listed before all of it was read
 */
export function firstUnread(
  { fromUsn, numbers }: ListedChanges,
  read: ChangeNumbers,
): number | undefined {
  const unread = [...numbers]
    .filter(([key, usn]) => usn === undefined || read.get(key) !== usn)
    .map(([, usn]) => usn ?? fromUsn);
  return unread.length === 0
    ? undefined
    : unread.reduce((least, usn) => Math.min(least, usn));
}

/**
 * The keys whose last write is not there any more, though it is not too old to
 * be listed: the entry is gone, or the write was taken back after it could be
 * seen, as 389 Directory Server does when a plugin of its own refuses it.
 *
 * @param read - as in {@link firstUnread}
 */
export function takenBack(
  { fromUsn, numbers }: ListedChanges,
  read: ChangeNumbers,
): readonly string[] {
  return [...read]
    .filter(([key, usn = 0]) => usn >= fromUsn && !numbers.has(key))
    .map(([key]) => key);
}
