// Bundles the portals that tests start as child processes, unless the bundles
// in .build/gateways/ are up to date. A portal from sources loads 3,000 modules,
// which takes half of the CPU time of its start.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.build/gateways');
const stamp = join(folder, 'inputs.json');

const testUtils = 'plugins/directory-backend/src/__testUtils__';
const entryPoints = {
  gateway: 'plugins/directory-backend/dev/index.ts',
  portal: 'packages/backend/src/index.ts',
  api: 'packages/backend/src/api.ts',
  catalogPortal: `${testUtils}/catalog/catalogPortal.ts`,
  ldapPortal: `${testUtils}/catalog/ldapPortal.ts`,
  visibilityPortal: `${testUtils}/visibility/portal.ts`,
};

/** Packages that find their files next to their code, or are not installed. */
const external = [
  ...['better-sqlite3', 'kerberos', 'pg-format'],
  ...['swagger-ui-dist', 'typescript', '@google-cloud/cloud-sql-connector'],
  ...['cpu-features', 'mariadb/callback', 'mysql*', 'oracledb', 'pg-native'],
  ...['pg-query-stream', 'sqlite3', 'tedious', 'typescript-json-schema'],
];

/**
 * Keeps the paths of modules by which Backstage's packages find their migrations:
 * in a bundle, they would be the path of the bundle.
 */
const pathsOfModules = {
  name: 'paths-of-modules',
  setup({ onLoad }) {
    const filter = /\/node_modules\/@backstage\/.*\.cjs\.js$/;
    onLoad({ filter }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      const file = JSON.stringify(path);
      return { contents: contents.replaceAll('(__filename)', `(${file})`) };
    });
  },
};

/** Returns a digest of files, which are relative to the repository. */
async function digestOf(files) {
  const hash = createHash('sha256').update(process.version);
  for (const file of [...files, 'yarn.lock', 'scripts/bundle-gateways.mjs']) {
    hash.update(file).update(await readFile(join(root, file)));
  }
  return hash.digest('hex');
}

async function isUpToDate() {
  try {
    const { digest, inputs } = JSON.parse(await readFile(stamp, 'utf8'));
    return digest === (await digestOf(inputs));
  } catch {
    return false; // No bundles, or one of their sources was removed.
  }
}

if (!(await isUpToDate())) {
  // Processes that bundle concurrently do not see each other's incomplete files.
  const scratch = `${folder}-${process.pid}`;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: scratch,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external,
    plugins: [pathsOfModules],
    keepNames: true,
    metafile: true,
    logLevel: 'error',
  });
  // Those of packages change with yarn.lock only.
  const inputs = Object.keys(metafile.inputs).filter(
    file => !file.includes('node_modules/') && !file.includes(':'),
  );
  const digest = await digestOf(inputs);
  await mkdir(folder, { recursive: true });
  for (const file of Object.keys(metafile.outputs)) {
    await rename(join(root, file), join(folder, basename(file)));
  }
  const written = join(scratch, basename(stamp));
  await writeFile(written, JSON.stringify({ digest, inputs }));
  await rename(written, stamp);
  await rm(scratch, { recursive: true });
}
