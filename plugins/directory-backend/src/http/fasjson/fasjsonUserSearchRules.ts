import { parseFasjsonSearchPage } from './parseFasjsonPage';
import type { UserSearchRules } from '../request/parseUserSearch';

/** How FASJSON parses a search. */
export const fasjsonUserSearchRules: UserSearchRules = {
  parsePage: parseFasjsonSearchPage,
  ignoresUnknown: true,
  // FASJSON reads `*` as a term of one character, which is too short.
  hasSubstringPresence: false,
  // FASJSON's LDAP filter is "at most", in whole seconds.
  before: time => new Date(Math.floor(time.getTime() / 1000) * 1000 + 1),
  invalidTime: text =>
    `Search for users created before this date Invalid date literal "${text}"`,
};
