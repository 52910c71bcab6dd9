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

/** Shortest text that the API searches, in code points. */
const SHORTEST = 3;

/**
 * Selects the fields in which a text is searched. The order of the fields is
 * the order of the results: user name, name, e-mail, nick,
 * GitHub, GitLab, then the rest.
 *
 * | typed                      | looked for in                              | and, when widened    |
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
export function readSearchText(
  text: string,
  options: { wide?: boolean } = {},
): SearchPlan {
  const { wide = false } = options;
  const folded = text.trim().replace(/\s+/g, ' ');
  if (!folded) {
    return { kind: 'nothing' };
  }
  if (Array.from(folded).length < SHORTEST) {
    return { kind: 'tooShort' };
  }
  const special = readUrl(folded) ?? readPrefix(folded) ?? readMatrixId(folded);
  if (special) {
    return special;
  }
  if (/^[^@\s]+@[^@\s]+$/.test(folded)) {
    const [localPart] = folded.split('@');
    return search({
      fields: ['email', 'rhbzemail'],
      value: folded,
      canWiden: !wide,
      more: wide ? wordTerms(localPart, true) : [],
    });
  }
  if (folded.startsWith('@')) {
    return plan(wordTerms(folded.slice(1), wide), !wide);
  }
  if (folded.includes(' ')) {
    return search({
      fields: wide
        ? ['human_name', 'ircnick', 'givenname', 'surname']
        : ['human_name'],
      value: folded,
      canWiden: !wide,
    });
  }
  return plan(wordTerms(folded, wide), !wide);
}

/** A word may be any name of a user. */
function wordTerms(word: string, wide: boolean): SearchTerm[] {
  const parts: SearchField[] = ['username', 'human_name', 'ircnick'];
  const wholes: SearchField[] = ['github_username', 'gitlab_username'];
  const names: SearchField[] = wide ? ['givenname', 'surname'] : [];
  const isLong = Array.from(word).length >= SHORTEST;
  const fields = isLong ? [...parts, ...wholes, ...names] : wholes;
  return word ? fields.map(field => ({ field, value: word })) : [];
}

function readUrl(text: string): SearchPlan | undefined {
  if (/^(irc|ircs|matrix):\//i.test(text)) {
    return search({ fields: ['ircnick'], value: text });
  }
  if (!/^https?:\/\/./i.test(text) || !URL.canParse(text)) {
    return undefined;
  }
  const { hostname, pathname } = new URL(text);
  const forge = FORGES[hostname.replace(/^www\./, '')];
  const owner = pathname.split('/')[1];
  return forge && owner
    ? search({ fields: [forge], value: owner })
    : search({ fields: ['website', 'rssurl'], value: text });
}

function readPrefix(text: string): SearchPlan | undefined {
  const [, prefix, value] = text.match(/^(\w+): ?([^/].*)$/) ?? [];
  const fields = prefix ? PREFIXES[prefix.toLowerCase()] : undefined;
  if (!fields) {
    return undefined;
  }
  return Array.from(value).length < SHORTEST
    ? { kind: 'tooShort' }
    : search({ fields, value });
}

/** The directory stores `matrix:/nick` or `matrix://server/nick`. */
function readMatrixId(text: string): SearchPlan | undefined {
  const [, nick] = text.match(/^@([^@:\s]{2,}):[^@:\s]+$/) ?? [];
  return nick ? search({ fields: ['ircnick'], value: `/${nick}` }) : undefined;
}

function search(options: {
  fields: SearchField[];
  value: string;
  canWiden?: boolean;
  more?: SearchTerm[];
}): SearchPlan {
  const { fields, value, canWiden = false, more = [] } = options;
  return plan([...fields.map(field => ({ field, value })), ...more], canWiden);
}

function plan(terms: SearchTerm[], canWiden: boolean): SearchPlan {
  return terms.length
    ? { kind: 'search', terms, canWiden }
    : { kind: 'tooShort' };
}
