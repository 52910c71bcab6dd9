import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatLdif } from '../ldif/formatLdif';
import { LdifEntry } from '../ldif/LdifEntry';
import { parseLdif } from '../ldif/ldif';
import type { RealmLayout } from '../RealmLayout';

/** Rewrites the configuration of a server that does not run. */
export async function editDse(
  { config }: RealmLayout,
  edit: (entries: LdifEntry[]) => LdifEntry[],
): Promise<void> {
  const file = join(config, 'dse.ldif');
  const entries = edit(parseLdif(await readFile(file, 'utf8')));
  await writeFile(file, entries.map(formatLdif).join(''), { mode: 0o600 });
}

/** An entry with one text in place of another, wherever its values have it. */
export function substitute(
  entry: LdifEntry,
  from: string,
  to: string,
): LdifEntry {
  const moved = new LdifEntry(entry.dn);
  for (const [name, values] of entry) {
    const replaced = values.map(value =>
      typeof value === 'string' ? value.replaceAll(from, to) : value,
    );
    moved.add(name, ...replaced);
  }
  return moved;
}
