import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { rowCounter } from './export/rowCounter';

/** How far the reading of a file has come. */
export interface ExportProgress {
  /** Members read so far. */
  rows: number;

  /** Members in all; nothing when the server's answer does not tell. */
  total: number | undefined;
}

/** Options of {@link readMembersFile}. */
export interface ReadMembersOptions {
  client: DirectoryClient;
  groupname: string;
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

/** Without it, spreadsheets read UTF-8 as the letters of some old code page. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Reads all members of a group as a CSV file for spreadsheets. Throws when the
 * answer breaks off or is canceled: half a list looks like a whole one.
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
  // Ends the reading at once, also where an abort leaves the stream open.
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
    rows = Math.max(0, count(piece.value) - 1); // the first row names fields
    onProgress({ rows, total });
  }
  signal.throwIfAborted();
  return { file: new Blob(pieces, { type: 'text/csv;charset=utf-8' }), rows };
}
