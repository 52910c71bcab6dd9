import { compareNames } from './names';
import type { User } from './User';
import type { Visibility } from './Visibility';

/**
 * Those who came last first, without a creation last and by name; needs their
 * creation and whether they are private.
 */
export function orderColleagues(
  users: readonly User[],
  visibleTo: Visibility,
): readonly User[] {
  return users
    .map(user => withVisibleCreation(user, visibleTo))
    .sort(compareCreation);
}

/** The order must not tell what the record hides. */
function withVisibleCreation(user: User, visibleTo: Visibility): User {
  const isHidden =
    visibleTo.kind === 'public' &&
    visibleTo.hidden.has('creation') &&
    user.is_private === true &&
    user.username !== visibleTo.owner;
  return isHidden ? { username: user.username } : user;
}

function compareCreation(a: User, b: User): number {
  const [timeA, timeB] = [a, b].map(
    ({ creation }) => creation?.getTime() ?? -Infinity,
  );
  return timeA === timeB ? compareNames(a.username, b.username) : timeB - timeA;
}
