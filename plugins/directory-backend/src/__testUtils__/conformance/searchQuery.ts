import type { UserCondition } from '../../directory/predicates';
import type { UserField } from '../../directory/schema';

const SUBSTRING: Partial<Record<UserField, string>> = {
  username: 'username',
  ircnicks: 'ircnick',
  givenname: 'givenname',
  surname: 'surname',
  human_name: 'human_name',
};

const EXACT: Partial<Record<UserField, string>> = {
  emails: 'email',
  github_username: 'github_username',
  gitlab_username: 'gitlab_username',
  rhbzemail: 'rhbzemail',
  websites: 'website',
  rssurls: 'rssurl',
};

/** A search as it is sent, and what it asks for. */
export interface SearchQuery {
  readonly query: string;
  readonly terms: readonly UserCondition[];
}

/**
 * Terms as parameters of `/search/users/` (contract, section 4.3). Terms that
 * cannot be sent are left out: too short, of a second value of a parameter
 * that does not repeat, or a text that has another meaning there.
 */
export function searchQuery(terms: readonly UserCondition[]): SearchQuery {
  const query = new URLSearchParams();
  const sent: UserCondition[] = [];
  for (const term of terms) {
    const [name, value] = parameterOf(term) ?? [];
    if (name && value && (name === 'group' || !query.has(name))) {
      query.append(name, value);
      sent.push(term);
    }
  }
  return { query: String(query), terms: sent };
}

function parameterOf(
  term: UserCondition,
): readonly [string | undefined, string] | undefined {
  switch (term.kind) {
    case 'isTrue':
    case 'isUser':
      return undefined;
    case 'memberOfAny':
      return ['group', '*'];
    case 'memberOf':
      return isMeant(term.groupname) ? ['group', term.groupname] : undefined;
    case 'before':
      return term.time.getUTCFullYear() < 10_000
        ? ['creation__before', term.time.toISOString()]
        : undefined;
    case 'present':
      return [SUBSTRING[term.field] ?? EXACT[term.field], '*'];
    case 'substring':
      return isLongEnough(term.text)
        ? [SUBSTRING[term.field], term.text]
        : undefined;
    default:
      return isMeant(term.text)
        ? [exactName(term.field), term.text]
        : undefined;
  }
}

function exactName(field: UserField): string | undefined {
  return field in SUBSTRING ? `${SUBSTRING[field]}__exact` : EXACT[field];
}

/** A star alone asks for any value, and nothing is no term. */
function isMeant(text: string): boolean {
  return text !== '' && text !== '*';
}

function isLongEnough(text: string): boolean {
  return [...text.replace(/ +/g, ' ')].length >= 3;
}
