// Finds circular imports, including those of types, between the files of a
// package and between its folders. Files outside of folders, and messages.ts,
// count as separate folders.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const IMPORT = /^(?:import|export)\b[^'";]*?from '(\.[^']+)'/gm;
const EXTENSIONS = ['.ts', '.tsx', '/index.ts', '/index.tsx'];

/** Returns pairs of files of a package: the first imports the second. */
function importsIn(src) {
  const files = globSync('**/*.{ts,tsx}', { cwd: src }).filter(
    file => !/\.test\.|__testUtils__|\.d\.ts$/.test(file),
  );
  return files.flatMap(file => {
    const text = readFileSync(join(src, file), 'utf8');
    return [...text.matchAll(IMPORT)].flatMap(([, path]) => {
      const targets = EXTENSIONS.map(end => join(dirname(file), path + end));
      return targets.filter(each => files.includes(each)).map(to => [file, to]);
    });
  });
}

/** Returns the first path from a node back to itself. */
function findCircle(edges, node, path = [], done = new Set()) {
  if (path.includes(node)) {
    return [...path.slice(path.indexOf(node)), node].join(' → ');
  }
  const targets = done.has(node) ? [] : edges.filter(([from]) => from === node);
  done.add(node);
  return targets
    .map(([, to]) => findCircle(edges, to, [...path, node], done))
    .find(Boolean);
}

const root = join(import.meta.dirname, '..');
for (const src of globSync('{benchmarks,packages/*,plugins/*}/src', {
  cwd: root,
}).sort()) {
  test(`${src} does not have circular imports`, () => {
    const files = importsIn(join(root, src));
    const folderOf = file =>
      /^[^/]*$|\/messages\.ts$/.test(file) ? file : dirname(file);
    const folders = files.map(pair => pair.map(folderOf));
    for (const edges of [files, folders.filter(([from, to]) => from !== to)]) {
      const done = new Set();
      for (const [from] of edges) {
        assert.equal(findCircle(edges, from, [], done), undefined);
      }
    }
  });
}
