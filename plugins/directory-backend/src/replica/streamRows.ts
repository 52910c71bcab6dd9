import type { User } from '../directory/User';
import type { UserStream } from '../directory/UserStream';
import type { ServedRecord } from './ServedRecords';

const USERS_AT_A_TIME = 500;

/** Rows as a stream: the copy may change while they are sent, they do not. */
export function streamRows(
  rows: readonly ServedRecord<User>[],
  options: {
    readonly present: (row: ServedRecord<User>) => User;
    readonly signal: AbortSignal;
  },
): UserStream {
  // Of their own: in the order of lists a changed row takes the other's place.
  const own = rows.slice();
  return { total: own.length, portions: portionsOf(own, options) };
}

async function* portionsOf(
  rows: readonly ServedRecord<User>[],
  { present, signal }: Parameters<typeof streamRows>[1],
): AsyncIterable<readonly User[]> {
  for (let at = 0; at < rows.length; at += USERS_AT_A_TIME) {
    signal.throwIfAborted();
    yield rows.slice(at, at + USERS_AT_A_TIME).map(present);
  }
}
