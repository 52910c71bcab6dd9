import type { UserStream } from '../../directory/Directory';
import type { User } from '../../directory/records';
import { FileStream } from './FileStream';
import { writeOctets } from './json';

/** An unpaginated list, which only the fasjson dialect has, sent while it is read. */
export function streamedList(
  users: UserStream,
  present: (user: User) => unknown,
): FileStream {
  return new FileStream({
    contentType: 'application/json',
    headers: {},
    chunks: chunksOf(users, present),
  });
}

async function* chunksOf(
  { portions }: UserStream,
  present: (user: User) => unknown,
): AsyncIterable<Buffer> {
  let before = '{"result":[';
  for await (const users of portions) {
    const items = users.map(user => writeOctets(present(user)));
    yield Buffer.from(`${before}${items.join()}`, 'latin1');
    before = users.length > 0 ? ',' : before;
  }
  yield Buffer.from(before === ',' ? ']}' : `${before}]}`);
}
