import type { UsersQuery } from '../directory/Directory';
import type { UserStream } from '../directory/UserStream';
import type { User } from '../directory/User';
import type { Asking } from './LdapReader';
import type { LdapUsers } from './LdapUsers';

/** A few searches' worth: they run at the same time. */
const USERS_AT_A_TIME = 200;

/** Users by ordered names, read as they are asked for. */
export function streamUsers(
  names: readonly string[],
  options: {
    readonly users: LdapUsers;
    readonly query: UsersQuery;
    readonly asking: Asking;
  },
): UserStream {
  return { total: names.length, portions: portionsOf(names, options) };
}

/** While one portion is on its way to the caller, the next is read. */
async function* portionsOf(
  names: readonly string[],
  options: Parameters<typeof streamUsers>[1],
): AsyncIterable<readonly User[]> {
  const { users, query, asking } = options;
  const read = (at: number) => {
    const some = names.slice(at, at + USERS_AT_A_TIME);
    const portion = users.records(some, query, asking);
    // Nobody may be left to hear of it.
    portion.catch(() => undefined);
    return portion;
  };
  let next = read(0);
  for (let at = 0; at < names.length; at += USERS_AT_A_TIME) {
    asking.signal.throwIfAborted();
    const portion = await next;
    if (at + USERS_AT_A_TIME < names.length) {
      next = read(at + USERS_AT_A_TIME);
    }
    yield portion;
  }
}
