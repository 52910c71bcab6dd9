import type { DirectorySchema } from '../directory/schema';
import type { UserFieldTerm, UserSearchTerm } from '../directory/UserSearch';
import type { Visibility } from '../directory/Visibility';
import { inAll, inAny, ranksThat } from './rankSets';
import type { Members } from './Members';
import type { UserTable } from './UserTable';
import { findValues } from './findValues';

/** What a search of users is made with. */
export interface UserFinding {
  readonly users: Pick<UserTable, 'served'>;
  readonly members: Members;
  readonly schema: DirectorySchema;
  readonly visibleTo: Visibility;
  /** The rank of the one to whom nothing of their own is hidden, if served. */
  readonly ownerRank: () => number | undefined;
  /** The key of the served group of a name. */
  readonly groupKey: (groupname: string) => string | undefined;
}

/** The ranks of the users to whom all terms apply. */
export function findUsers(
  terms: readonly UserSearchTerm[],
  finding: UserFinding,
): Uint32Array {
  return inAll(terms.map(term => find(term, finding)));
}

function find(term: UserSearchTerm, finding: UserFinding): Uint32Array {
  switch (term.kind) {
    case 'memberOfAny':
      return finding.members.ofAny();
    case 'memberOf': {
      const key = finding.groupKey(term.groupname);
      return key === undefined ? new Uint32Array() : finding.members.all(key);
    }
    case 'anyOf':
      return inAny(term.terms.map(each => findVisibly(each, finding)));
    default:
      return findVisibly(term, finding);
  }
}

/** A hidden field must not say that somebody else's private profile matches. */
function findVisibly(
  term: UserFieldTerm,
  { users, schema, visibleTo, ownerRank }: UserFinding,
): Uint32Array {
  const found = findByField(term, users);
  if (
    visibleTo.kind === 'everything' ||
    !visibleTo.hidden.has(term.field) ||
    schema.users.is_private.attribute === undefined
  ) {
    return found;
  }
  const isPrivate = users.served.flags('is_private');
  const own = ownerRank();
  return ranksThat(found, rank => isPrivate[rank] === 0 || rank === own);
}

function findByField(
  term: UserFieldTerm,
  { served }: Pick<UserTable, 'served'>,
): Uint32Array {
  return term.kind === 'before'
    ? served.ranksBefore(term.field, term.time)
    : findValues(served, term);
}
