import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { type MembersQuery, selectionOf } from './useMembers';

const FIELDS = [
  ...['username', 'human_name', 'emails', 'direct', 'path'],
  ...['sponsor', 'locked', 'timezone'],
];

/** Progress of an export. */
export interface ExportProgress {
  rows: number;

  /** Total number of members; `undefined` when the server does not send it. */
  total: number | undefined;
}

/** Spreadsheet programs need it to read the file as UTF-8. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Downloads the selected members of a group as a CSV file for spreadsheet
 * programs.
 *
 * @throws when the download fails or is canceled, so that no partial list is
 *   saved
 */
export async function readMembersFile(options: {
  client: DirectoryClient;
  groupname: string;
  query: MembersQuery;

  /** Whether to read the join times of members. */
  hasHistory: boolean;
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}): Promise<{ file: Blob; rows: number }> {
  const { client, groupname, query, hasHistory, signal, onProgress } = options;
  const fields = [...FIELDS, ...(hasHistory ? ['joined'] : [])].join(',');
  const { data, response } = await client.stream(
    '/groups/{groupname}/members.csv',
    {
      params: {
        path: { groupname },
        header: { 'X-Fields': fields },
        query: selectionOf(query),
      },
      signal,
    },
  );
  const header = response.headers.get('X-Total-Results');
  const total = header === null ? undefined : Number(header);

  const chunks: BlobPart[] = [BYTE_ORDER_MARK];
  const count = rowCounter();
  const reader = data.getReader();
  // Stops reading at once, even if an abort leaves the stream open.
  signal.addEventListener(
    'abort',
    () => reader.cancel().catch(() => undefined),
    { once: true },
  );
  let rows = 0;
  for (
    let chunk = await reader.read();
    !chunk.done;
    chunk = await reader.read()
  ) {
    chunks.push(chunk.value as Uint8Array<ArrayBuffer>);
    rows = Math.max(0, count(chunk.value) - 1); // without the header row
    onProgress({ rows, total });
  }
  signal.throwIfAborted();
  return { file: new Blob(chunks, { type: 'text/csv;charset=utf-8' }), rows };
}

const QUOTE = '"'.charCodeAt(0);
const NEWLINE = '\n'.charCodeAt(0);

/**
 * Returns a function that counts the rows of a CSV file (RFC 4180), including
 * the header: it takes the next chunk and returns the number of complete rows
 * so far. A line break between quotes is part of a cell; a doubled quote ends
 * and restarts the quoted part.
 */
export function rowCounter(): (chunk: Uint8Array) => number {
  let rows = 0;
  let isQuoted = false;
  return chunk => {
    for (const byte of chunk) {
      if (byte === QUOTE) {
        isQuoted = !isQuoted;
      } else if (byte === NEWLINE && !isQuoted) {
        rows += 1;
      }
    }
    return rows;
  };
}
