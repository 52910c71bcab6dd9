/** FreeIPA's pattern of user names. */
const USER_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}\$?$/;

/**
 * Like user names, with single inner spaces: FreeIPA creates `trust admins`.
 */
const GROUP_NAME = /^(?=.{1,255}\$?$)[A-Za-z0-9_.](?: ?[A-Za-z0-9_.-])*\$?$/;

/**
 * Whether a decoded text is a valid user name. Other names are not sent to
 * LDAP, and users with other names are not served.
 */
export function isUserName(text: string): boolean {
  return USER_NAME.test(text);
}

/** Like {@link isUserName}, for group names. */
export function isGroupName(text: string): boolean {
  return GROUP_NAME.test(text);
}

/** Compares names case-insensitively; distinguishes equal ones by case. */
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
