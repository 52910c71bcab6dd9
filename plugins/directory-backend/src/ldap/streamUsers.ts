import type { UsersQuery } from '../directory/Directory';
import type { UserStream } from '../directory/UserStream';
import type { User } from '../directory/User';
import type { Asking } from './LdapReader';
import type { LdapUsers } from './LdapUsers';

/** A few searches' worth: they run at the same time. */
const USERS_AT_A_TIME = 200;

/**
 * So that neither the directory waits for the gateway nor the caller for the
 * one search in a thousand that takes the directory long.
 */
const PORTIONS_AHEAD = 2;

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

/** While one portion is on its way to the caller, the next ones are read. */
async function* portionsOf(
  names: readonly string[],
  options: Parameters<typeof streamUsers>[1],
): AsyncIterable<readonly User[]> {
  const { users, query, asking } = options;
  const ahead: Promise<readonly User[]>[] = [];
  let at = 0;
  while (at < names.length || ahead.length > 0) {
    asking.signal.throwIfAborted();
    while (at < names.length && ahead.length <= PORTIONS_AHEAD) {
      const some = names.slice(at, at + USERS_AT_A_TIME);
      const portion = users.records(some, query, asking);
      // Nobody may be left to hear of it.
      portion.catch(() => undefined);
      ahead.push(portion);
      at += USERS_AT_A_TIME;
    }
    yield await ahead.shift()!;
  }
}
