import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';

/** Progress of an export. */
export interface ExportProgress {
  /** Members read so far. */
  rows: number;

  /** Number of all members; `undefined` when the server does not send it. */
  total: number | undefined;
}

/** Options of {@link readMembersFile}. */
interface ReadMembersOptions {
  client: DirectoryClient;
  groupname: string;
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

/** Without it, spreadsheets do not read the file as UTF-8. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Reads all members of a group as a CSV file for spreadsheets.
 *
 * @throws when the response is aborted or canceled, so that no partial list is
 * saved
 */
export async function readMembersFile(
  options: ReadMembersOptions,
): Promise<{ file: Blob; rows: number }> {
  const { client, groupname, signal, onProgress } = options;
  const { data, response } = await client.stream(
    '/groups/{groupname}/members.csv',
    { params: { path: { groupname } }, signal },
  );
  const announced = response.headers.get('X-Total-Results');
  const total = announced === null ? undefined : Number(announced);

  const pieces: BlobPart[] = [BYTE_ORDER_MARK];
  const count = rowCounter();
  const reader = data.getReader();
  // Stops reading at once, also when an abort leaves the stream open.
  signal.addEventListener(
    'abort',
    () => reader.cancel().catch(() => undefined),
    { once: true },
  );
  let rows = 0;
  for (
    let piece = await reader.read();
    !piece.done;
    piece = await reader.read()
  ) {
    pieces.push(piece.value as Uint8Array<ArrayBuffer>);
    rows = Math.max(0, count(piece.value) - 1); // the first row contains the field names
    onProgress({ rows, total });
  }
  signal.throwIfAborted();
  return { file: new Blob(pieces, { type: 'text/csv;charset=utf-8' }), rows };
}

/** Returns the number of complete rows after each piece of a file. */
type RowCounter = (piece: Uint8Array) => number;

const QUOTE = '"'.charCodeAt(0);
const NEWLINE = '\n'.charCodeAt(0);

/**
 * Counts the rows of a CSV file while it is read (RFC 4180), including the row of
 * field names. A line break between quotes is part of a cell; a doubled quote
 * closes and opens a quoted part.
 */
export function rowCounter(): RowCounter {
  let rows = 0;
  let isQuoted = false;
  return piece => {
    for (const byte of piece) {
      if (byte === QUOTE) {
        isQuoted = !isQuoted;
      } else if (byte === NEWLINE && !isQuoted) {
        rows += 1;
      }
    }
    return rows;
  };
}
