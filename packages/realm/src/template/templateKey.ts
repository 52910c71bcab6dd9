import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../processes/programs';
import { PACKAGE_FOLDER } from '../packageFolder';
import type { ResolvedOptions } from '../RealmOptions';

/**
 * A name for all that determines a prepared realm: the options that fill it,
 * the content of the LDIF file, this package's own sources, the generator's
 * library, the build of the directory server.
 */
export async function templateKey(options: ResolvedOptions): Promise<string> {
  const { users, seed, schema, ldif } = options;
  const hash = createHash('sha256');
  const content = ldif
    ? { schema, ldif: await digest(ldif) }
    : { schema, users, seed };
  hash.update(JSON.stringify(content));
  hash.update(await readFile(findProgram('ns-slapd') ?? '/dev/null'));
  hash.update(await readFile(require.resolve('@faker-js/faker/package.json')));
  for (const folder of ['src', 'schema']) {
    const names = await readdir(join(PACKAGE_FOLDER, folder), {
      recursive: true,
    });
    for (const name of names.filter(isSource).sort()) {
      hash
        .update(name)
        .update(await readFile(join(PACKAGE_FOLDER, folder, name)));
    }
  }
  const kind = ldif ? 'ldif' : String(users);
  return `${schema}-${kind}-${hash.digest('hex').slice(0, 20)}`;
}

function isSource(name: string): boolean {
  return /\.(ts|ldif)$/.test(name) && !/(\.test\.ts$|^cli|^testing)/.test(name);
}

async function digest(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
