/**
 * Prints the gzipped size of the JavaScript that the plugin adds to a portal:
 * on startup and for each page. It excludes packages that Backstage already
 * includes: React, the router, `@backstage/*` and the dependencies of
 * `@backstage/ui`.
 *
 *   node scripts/bundle-size.mjs
 *
 * Exits with status 1 when a page exceeds the budget.
 */
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const BUDGET = 150 * 1024;

const partOfBackstage =
  /^(@backstage\/|@internationalized\/|@react-(aria|stately)\/|react(-dom|-router|-router-dom|-aria|-stately|-aria-components)?(\/|$))/;

const folder = dirname(dirname(fileURLToPath(import.meta.url)));

const { metafile, outputFiles } = await build({
  absWorkingDir: folder,
  entryPoints: ['src/index.ts'],
  outdir: 'dist-size',
  write: false,
  bundle: true,
  splitting: true,
  minify: true,
  metafile: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [
    {
      name: 'part-of-backstage',
      setup({ onResolve }) {
        onResolve({ filter: partOfBackstage }, ({ path }) => ({
          path,
          external: true,
        }));
      },
    },
  ],
});

const sizes = new Map(
  outputFiles.map(({ path, contents }) => [
    path,
    gzipSync(contents, { level: 9 }).length,
  ]),
);
const sizeOf = output => sizes.get(join(folder, output)) ?? 0;

/** Returns the set of an output and its static imports. */
function load(output, loaded = new Set()) {
  if (!loaded.has(output) && metafile.outputs[output]) {
    loaded.add(output);
    for (const { path, kind } of metafile.outputs[output].imports) {
      if (kind === 'import-statement') {
        load(path, loaded);
      }
    }
  }
  return loaded;
}

const outputs = Object.entries(metafile.outputs);
const [entry] = outputs.find(
  ([, { entryPoint }]) => entryPoint === 'src/index.ts',
);
const pages = outputs.filter(([, { entryPoint }]) =>
  /(?:Page|PaletteDialog)\.tsx$|^src\/home\//.test(entryPoint ?? ''),
);
if (pages.length === 0) {
  throw new Error('No page is a separate chunk');
}

const initial = load(entry);
const report = [
  ['initial', initial],
  ...pages.map(([output, { entryPoint }]) => [
    entryPoint.replace(/^src\/|\.tsx$/g, ''),
    load(output, new Set(initial)),
  ]),
].map(([name, loaded]) => ({
  name,
  size: [...loaded].reduce((sum, output) => sum + sizeOf(output), 0),
}));

for (const { name, size } of report) {
  const kilobytes = (size / 1024).toFixed(1).padStart(7);
  process.stdout.write(`${kilobytes} kB  ${name}\n`);
}
const tooLarge = report.filter(({ size }) => size > BUDGET);
if (tooLarge.length > 0) {
  process.stderr.write(
    `Exceeds the budget of ${BUDGET / 1024} kB: ${tooLarge
      .map(({ name }) => name)
      .join(', ')}\n`,
  );
  process.exitCode = 1;
}
