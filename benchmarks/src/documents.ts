import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BENCHMARKS } from './settings';
import {
  formatOrganizations,
  formatPortals,
  formatRates,
  formatRows,
  formatSizes,
  type OrganizationResults,
  type Results,
} from './tables';

/*
 * Writes the tables of the documents from the results of the benchmark. With
 * `--check`, fails when a table is not up to date.
 */

const DOCUMENTS = ['docs/performance.md', 'benchmarks/NOTES.md'];
const BLOCK = /(<!-- results: (\S+) -->\n)[^]*?(<!-- \/results -->)/g;

const results = read<Results>('results.json');
const large = read<Results>('results-100000.json');
const organizations = [20_000, 100_000]
  .map(users => read<OrganizationResults>(`results-organization-${users}.json`))
  .filter(file => file !== undefined);
const all = [results, large].filter(file => file !== undefined);
const tables: Readonly<Record<string, string>> = {
  rates: formatRates(results?.rows ?? []),
  sizes: formatSizes(all),
  rows: formatRows(results?.rows ?? []),
  'rows-100000': formatRows(large?.rows ?? [], results),
  portals: formatPortals(all),
  organizations: formatOrganizations(organizations),
};

for (const document of DOCUMENTS) {
  const path = join(dirname(BENCHMARKS), document);
  const before = readFileSync(path, 'utf8');
  const after = before.replace(
    BLOCK,
    (_block, start, name, end) => `${start}\n${tables[name]}\n\n${end}`,
  );
  if (!process.argv.includes('--check')) {
    writeFileSync(path, after);
  } else if (before !== after) {
    process.stderr.write(
      `${document} differs from the results: run benchmarks/documents\n`,
    );
    process.exitCode = 1;
  }
}

function read<T>(name: string): T | undefined {
  const file = join(BENCHMARKS, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
