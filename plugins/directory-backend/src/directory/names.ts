/**
 * User and group names: FreeIPA's pattern. What breaks it never reaches LDAP,
 * and entries that break it are not served.
 */
const NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}\$?$/;

/** Whether a decoded text can be the name of a user or a group. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Orders names case-insensitively, and equal ones always the same way. */
export function compareNames(a: string, b: string): number {
  const [lowerA, lowerB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowerA !== lowerB) {
    return lowerA < lowerB ? -1 : 1;
  }
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
