import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Published packages: folder, manifest, and name of the tarball. */
export const publicPackages = globSync('{packages,plugins}/*/package.json', {
  cwd: root,
})
  .sort()
  .map(file => {
    const folder = dirname(file);
    const manifest = JSON.parse(readFileSync(join(root, file), 'utf8'));
    const tarball = `${basename(folder)}-${manifest.version}.tgz`;
    return { folder, manifest, tarball };
  })
  .filter(({ manifest }) => !manifest.private);
