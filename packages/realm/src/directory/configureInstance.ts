import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LdifEntry } from '../ldif/LdifEntry';
import { normalizeDn } from '../ldif/normalizeDn';
import { PACKAGE_FOLDER } from '../packageFolder';
import type { RealmLayout } from '../RealmLayout';
import { editDse } from './editDse';
import { indexEntries } from './indexes';
import { ADDED_SETTINGS, CHANGED_SETTINGS, SASL_MAPPINGS } from './settings';

const SCHEMA_FOLDER = join(PACKAGE_FOLDER, 'schema');

/**
 * Makes a stopped, fresh instance what FreeIPA would have made of it, by
 * editing its `dse.ldif`: one rewrite instead of dozens of modifications and a
 * restart.
 *
 * @throws Error when the instance lacks an entry that the settings change
 */
export async function configureInstance(
  layout: RealmLayout,
  schema: 'fas' | 'freeipa',
): Promise<void> {
  const files =
    schema === 'fas' ? ['60freeipa.ldif', '89fas.ldif'] : ['60freeipa.ldif'];
  for (const file of files) {
    await copyFile(
      join(SCHEMA_FOLDER, file),
      join(layout.config, 'schema', file),
    );
  }
  await editDse(layout, entries => {
    const mappings = `,${normalizeDn(SASL_MAPPINGS)}`;
    const kept = new Map(
      entries
        .map((entry): [string, LdifEntry] => [normalizeDn(entry.dn), entry])
        .filter(([dn]) => !dn.endsWith(mappings)),
    );
    for (const [dn, settings] of Object.entries(CHANGED_SETTINGS)) {
      const entry = kept.get(normalizeDn(dn));
      if (!entry) {
        throw new Error(
          `The directory server has no ${dn}: is its version known?`,
        );
      }
      for (const [name, value] of Object.entries(settings)) {
        entry.replace(name, ...(typeof value === 'string' ? [value] : value));
      }
    }
    for (const entry of [...ADDED_SETTINGS, ...indexEntries(schema)]) {
      kept.set(normalizeDn(entry.dn), entry);
    }
    return [...kept.values()];
  });
}
