import { parseFasjsonSearchPage } from './parseFasjsonPage';
import type { UserSearchRules } from './parseUserSearch';

/** How the reference reads a search. */
export const fasjsonUserSearchRules: UserSearchRules = {
  parsePage: parseFasjsonSearchPage,
  // `*` is a text of one character there, and too short.
  hasSubstringPresence: false,
  // It asks LDAP for "at most", to the second.
  before: time => new Date(Math.floor(time.getTime() / 1000) * 1000 + 1),
  noTime: text =>
    `Search for users created before this date Invalid date literal "${text}"`,
};
