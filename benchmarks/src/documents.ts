import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BENCHMARKS } from './settings';
import { formatPortals, formatRows, type Results } from './tables';

/*
 * Writes the tables of docs/performance.md from the results of the benchmark.
 * With `--check`, fails when a table is not up to date.
 */

const DOCUMENT = join(dirname(BENCHMARKS), 'docs/performance.md');
const BLOCK = /(<!-- results: (\S+) -->\n)[^]*?(<!-- \/results -->)/g;

const results = read('results.json');
const large = read('results-100000.json');
const tables: Readonly<Record<string, string>> = {
  rows: formatRows(results?.rows ?? []),
  'rows-100000': formatRows(large?.rows ?? [], results),
  portals: formatPortals([results, large].filter(file => file !== undefined)),
};

const before = readFileSync(DOCUMENT, 'utf8');
const after = before.replace(
  BLOCK,
  (_block, start, name, end) => `${start}\n${tables[name]}\n\n${end}`,
);
if (!process.argv.includes('--check')) {
  writeFileSync(DOCUMENT, after);
} else if (before !== after) {
  process.stderr.write(
    `${DOCUMENT} differs from the results: run benchmarks/documents\n`,
  );
  process.exitCode = 1;
}

function read(name: string): Results | undefined {
  const file = join(BENCHMARKS, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
