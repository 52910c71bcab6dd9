import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Response } from 'express';
import { pipeline } from 'node:stream/promises';
import type { UserStream } from '../../directory/Directory';
import type { User } from '../../directory/records';
import { writeOctets } from './json';

/** An answer that is a file, sent while it is made. */
export class FileStream {
  /** Sent as it is, for example `text/csv; charset=utf-8`. */
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made as it is asked for; an error ends it before its proper end. */
  readonly chunks: AsyncIterable<string | Buffer>;

  constructor(options: {
    readonly contentType: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly chunks: AsyncIterable<string | Buffer>;
  }) {
    this.contentType = options.contentType;
    this.headers = options.headers;
    this.chunks = options.chunks;
  }
}

/**
 * Sends a file as fast as it is taken. What fails before its first chunk is
 * thrown, so that it gets an answer of its own; later the connection is broken
 * off, which no client takes for the end. To HEAD nothing is made.
 */
export async function sendFile(
  res: Response,
  options: { readonly file: FileStream; readonly logger: LoggerService },
): Promise<void> {
  const { file, logger } = options;
  const chunks = file.chunks[Symbol.asyncIterator]();
  const isHead = res.req.method === 'HEAD';
  const first = isHead ? undefined : await chunks.next();
  res.set(file.headers);
  // Express would add a charset to `application/json` in `res.set()`.
  res.setHeader('Content-Type', file.contentType);
  if (!first) {
    res.end();
    return;
  }
  try {
    await pipeline(() => continued(first, chunks, res), res);
  } catch (error) {
    if (!hasLeft(error)) {
      logger.warn(`A file was broken off: ${error}`);
    }
  }
}

async function* continued(
  first: IteratorResult<string | Buffer>,
  chunks: AsyncIterator<string | Buffer>,
  res: Response & { flush?(): void },
): AsyncIterable<string | Buffer> {
  try {
    for (let next = first; !next.done; next = await chunks.next()) {
      yield next.value;
      // Compression would keep back what it could still make smaller.
      res.flush?.();
    }
  } finally {
    await chunks.return?.();
  }
}

/** Whoever asked has gone: no reason to worry. */
function hasLeft(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

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
  { batches }: UserStream,
  present: (user: User) => unknown,
): AsyncIterable<Buffer> {
  let before = '{"result":[';
  for await (const users of batches) {
    const items = users.map(user => writeOctets(present(user)));
    yield Buffer.from(`${before}${items.join()}`, 'latin1');
    before = users.length > 0 ? ',' : before;
  }
  yield Buffer.from(before === ',' ? ']}' : `${before}]}`);
}
