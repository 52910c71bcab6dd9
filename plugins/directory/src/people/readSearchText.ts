import { MIN_SEARCH_LENGTH } from '../page/SearchList';
import type { SearchField } from './peopleQuery';

/** A text to search in one field. */
export interface SearchTerm {
  field: SearchField;
  value: string;
}

/** Interpretation of the searched text. */
type SearchPlan =
  | { kind: 'nothing' }
  | { kind: 'tooShort' }
  | { kind: 'search'; terms: SearchTerm[]; canWiden: boolean };

/** Prefixes that select a field: `github: karlp`. */
const PREFIXES: Record<string, SearchField[]> = {
  user: ['username'],
  name: ['human_name', 'givenname', 'surname'],
  mail: ['email', 'rhbzemail'],
  email: ['email', 'rhbzemail'],
  nick: ['ircnick'],
  github: ['github_username'],
  gitlab: ['gitlab_username'],
  web: ['website'],
  feed: ['rssurl'],
};

const FORGES: Record<string, SearchField> = {
  'github.com': 'github_username',
  'gitlab.com': 'gitlab_username',
};

/**
 * Selects the fields in which a text is searched. The order of the fields is
 * the order of the results: user name, name, e-mail, nick,
 * GitHub, GitLab, then the rest.
 *
 * | typed                      | searched fields                            | also, when widened   |
 * | -------------------------- | ------------------------------------------ | -------------------- |
 * | `karl`                     | user name, name, nick, GitHub, GitLab      | first and last name  |
 * | `Karl Larsson`             | name                                       | first and last name, nick |
 * | `karl@example.org`         | e-mail, bug tracker e-mail                 | `karl` as a word     |
 * | `@karl`                    | user name, nick, GitHub, GitLab            | as a word            |
 * | `@karl:example.org`        | nick (Matrix)                              |                      |
 * | `irc:/karl`, `matrix:/karl`| nick                                       |                      |
 * | `https://github.com/karl`  | GitHub (GitLab likewise)                   |                      |
 * | `https://…`                | website, feed                              |                      |
 * | `github: karl`, `nick: …`  | that field                                 |                      |
 */
export function readSearchText(text: string, wide: boolean): SearchPlan {
  const folded = text.trim().replace(/\s+/g, ' ');
  if (!folded) {
    return { kind: 'nothing' };
  }
  if (Array.from(folded).length < MIN_SEARCH_LENGTH) {
    return { kind: 'tooShort' };
  }
  const special = readUrl(folded) ?? readPrefix(folded) ?? readMatrixId(folded);
  if (special) {
    return special;
  }
  if (/^[^@\s]+@[^@\s]+$/.test(folded)) {
    const [localPart] = folded.split('@');
    const terms = termsOf(['email', 'rhbzemail'], folded);
    return plan([...terms, ...(wide ? wordTerms(localPart, true) : [])], !wide);
  }
  if (folded.startsWith('@')) {
    return plan(wordTerms(folded.slice(1), wide), !wide);
  }
  if (folded.includes(' ')) {
    const more: SearchField[] = ['ircnick', 'givenname', 'surname'];
    return plan(termsOf(['human_name', ...(wide ? more : [])], folded), !wide);
  }
  return plan(wordTerms(folded, wide), !wide);
}

/** A word may be any name of a user. */
function wordTerms(word: string, wide: boolean): SearchTerm[] {
  const parts: SearchField[] = ['username', 'human_name', 'ircnick'];
  const wholes: SearchField[] = ['github_username', 'gitlab_username'];
  const names: SearchField[] = wide ? ['givenname', 'surname'] : [];
  const isLong = Array.from(word).length >= MIN_SEARCH_LENGTH;
  const fields = isLong ? [...parts, ...wholes, ...names] : wholes;
  return word ? termsOf(fields, word) : [];
}

function readUrl(text: string): SearchPlan | undefined {
  if (/^(irc|ircs|matrix):\//i.test(text)) {
    return plan(termsOf(['ircnick'], text));
  }
  if (!/^https?:\/\/./i.test(text) || !URL.canParse(text)) {
    return undefined;
  }
  const { hostname, pathname } = new URL(text);
  const forge = FORGES[hostname.replace(/^www\./, '')];
  const owner = pathname.split('/')[1];
  return plan(
    forge && owner
      ? termsOf([forge], owner)
      : termsOf(['website', 'rssurl'], text),
  );
}

function readPrefix(text: string): SearchPlan | undefined {
  const [, prefix, value] = text.match(/^(\w+): ?([^/].*)$/) ?? [];
  const fields = prefix ? PREFIXES[prefix.toLowerCase()] : undefined;
  if (!fields) {
    return undefined;
  }
  return Array.from(value).length < MIN_SEARCH_LENGTH
    ? { kind: 'tooShort' }
    : plan(termsOf(fields, value));
}

/** The directory stores `matrix:/nick` or `matrix://server/nick`. */
function readMatrixId(text: string): SearchPlan | undefined {
  const [, nick] = text.match(/^@([^@:\s]{2,}):[^@:\s]+$/) ?? [];
  return nick ? plan(termsOf(['ircnick'], `/${nick}`)) : undefined;
}

function termsOf(fields: readonly SearchField[], value: string): SearchTerm[] {
  return fields.map(field => ({ field, value }));
}

function plan(terms: SearchTerm[], canWiden = false): SearchPlan {
  return terms.length
    ? { kind: 'search', terms, canWiden }
    : { kind: 'tooShort' };
}
