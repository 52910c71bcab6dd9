import type { UserStream } from '../../directory/UserStream';
import type { User } from '../../directory/User';
import { FileStream } from './FileStream';
import { writeJson } from './JsonText';

/** A whole list that is not paginated, sent while it is read. */
export function streamedList(
  users: UserStream,
  present: (user: User) => unknown,
): FileStream {
  return new FileStream({
    contentType: 'application/json; charset=utf-8',
    headers: {},
    chunks: chunksOf(users, present),
  });
}

async function* chunksOf(
  { portions }: UserStream,
  present: (user: User) => unknown,
): AsyncIterable<string> {
  let before = '{"result":[';
  for await (const users of portions) {
    const items = users.map(user => writeJson(present(user)));
    yield `${before}${items.join()}`;
    before = users.length > 0 ? ',' : before;
  }
  yield before === ',' ? ']}' : `${before}]}`;
}
