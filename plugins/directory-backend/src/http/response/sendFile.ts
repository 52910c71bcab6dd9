import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Response } from 'express';
import { pipeline } from 'node:stream/promises';
import type { FileStream } from './FileStream';

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
