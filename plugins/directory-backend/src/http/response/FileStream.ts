import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Response } from 'express';
import { pipeline } from 'node:stream/promises';
import type { User, UserStream } from '@directory-gateway/directory-core';
import { writeLatin1 } from './json';

/** A response body that is sent while it is generated. */
export class FileStream {
  /** For example `text/csv; charset=utf-8`. */
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Generated on demand. An error aborts the response. */
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
 * Sends a body at the speed of the client. An error before the first chunk is
 * thrown, so that it gets a response; a later one closes the connection, so
 * that clients detect that the body is incomplete. For HEAD, no chunk is read.
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
    if (!isDisconnect(error)) {
      logger.warn(`Response stream aborted: ${error}`);
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
      // Otherwise compression would buffer the chunk.
      res.flush?.();
    }
  } finally {
    await chunks.return?.();
  }
}

/** Whether the client disconnected. */
function isDisconnect(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Presents a list without pages as a stream. */
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
    const items = users.map(user => writeLatin1(present(user)));
    yield Buffer.from(`${before}${items.join()}`, 'latin1');
    before = users.length > 0 ? ',' : before;
  }
  yield Buffer.from(before === ',' ? ']}' : `${before}]}`);
}
