/**
 * Holds the plugin to its budget: what it adds to the JavaScript of a portal
 * before the first page shows, and before any page shows, gzipped. What
 * Backstage brings itself is not counted: React, the router, `@backstage/*`
 * and the packages that `@backstage/ui` is made of.
 *
 *   node scripts/bundle-size.mjs
 *
 * Ends with 1 when a page is over the budget.
 */
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const BUDGET = 150 * 1024;

const backstageBrings =
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
      name: 'backstage-brings',
      setup({ onResolve }) {
        onResolve({ filter: backstageBrings }, ({ path }) => ({
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

/** An output and all that it imports before it runs. */
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
  /Page\.tsx$/.test(entryPoint ?? ''),
);
if (pages.length === 0) {
  throw new Error('No page is loaded on its own: everything is initial');
}

const initial = load(entry);
const report = [
  ['before any page', initial],
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
    `Over the budget of ${BUDGET / 1024} kB: ${tooLarge
      .map(({ name }) => name)
      .join(', ')}\n`,
  );
  process.exitCode = 1;
}
