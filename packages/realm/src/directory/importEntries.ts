import { createWriteStream } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatLdif } from '../ldif/formatLdif';
import type { LdifEntry } from '../ldif/LdifEntry';
import type { Account } from '../processes/Account';
import type { ProcessOwner } from '../processes/ProcessOwner';
import type { RealmLayout } from '../RealmLayout';
import { withComplaints } from './withComplaints';

export interface ImportOptions {
  owner: ProcessOwner;
  account: Account;
  layout: RealmLayout;
  /** Parents before children. */
  entries: readonly LdifEntry[];
}

/**
 * Fills the database of a server that does not run (`ns-slapd ldif2db`).
 *
 * @throws Error with the server's words when it skips an entry, for breaking
 * the schema or missing its parent: half a directory is worse than none
 */
export async function importEntries(options: ImportOptions): Promise<void> {
  const { owner, account, layout, entries } = options;
  const file = join(layout.dir, 'import.ldif');
  await pipeline(
    Readable.from(records(entries)),
    createWriteStream(file, { mode: 0o600 }),
  );
  await chown(file, account.uid, account.gid);
  await withComplaints('The import', layout, () =>
    owner.run({
      account,
      program: 'ns-slapd',
      args: ['ldif2db', '-D', layout.config, '-n', 'userroot', '-i', file],
    }),
  );
  await rm(file);
}

function* records(entries: readonly LdifEntry[]): Generator<string> {
  for (const entry of entries) {
    yield formatLdif(entry);
  }
}
