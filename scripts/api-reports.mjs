// Writes the API reports of the public packages, report*.api.md, from the
// declarations of `yarn tsc`. With --check, restores the reports and exits with
// status 1 when they were outdated.
//
// TypeScript writes the members of inferred types, such as the messages of a
// translation, in an order that depends on the files that it has compiled
// before. A report that differs only in the order of its words is kept.
//
// A report has the keys of a translation, but not its texts, so that a change of
// a text does not change the report.

import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicPackages } from './public-packages.mjs';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');

const readReports = () =>
  new Map(
    publicPackages
      .flatMap(({ folder }) =>
        globSync(`${folder}/report*.api.md`, { cwd: root }),
      )
      .map(file => [file, readFileSync(join(root, file), 'utf8')]),
  );

/** Returns a report with `string` in place of the texts of a translation. */
const withoutTexts = report =>
  report.replace(/: TranslationRef<[^]*?^>;$/gm, declaration =>
    declaration.replace(
      /^( +readonly [^:\n]+:)\s+(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*");$/gm,
      '$1 string;',
    ),
  );

/** Returns the words of a report in alphabetical order. */
const wordsOf = report =>
  report
    ?.split(/[\s|;,]+/)
    .sort()
    .join(' ');

const before = readReports();
const { status, stdout, stderr } = spawnSync(
  'yarn',
  [
    'backstage-repo-tools',
    'api-reports',
    ...publicPackages.map(({ folder }) => folder),
    // The sources of other packages are read, too; and members of
    // generated types do not have comments: see below.
    '--omit-messages=ae-wrong-input-file-type,ae-undocumented',
  ],
  { cwd: root, encoding: 'utf8' },
);
const after = new Map(
  [...readReports()].map(([file, report]) => [file, withoutTexts(report)]),
);
const files = [...new Set([...before.keys(), ...after.keys()])];
const changed = files.filter(
  file => wordsOf(before.get(file)) !== wordsOf(after.get(file)),
);
for (const file of files) {
  const isKept = isCheck || !changed.includes(file);
  const report = isKept ? before.get(file) : after.get(file);
  if (report !== undefined) {
    writeFileSync(join(root, file), report);
  }
}
for (const file of changed) {
  console.error(`${file} is ${isCheck ? 'outdated' : 'updated'}`);
}
// The types of the OpenAPI document have keys without a description.
const undocumented = [...after].flatMap(([file, report]) =>
  report
    .split('\n')
    .filter(line => line.includes('(undocumented)'))
    .filter(
      line => !file.includes('directory-common') || line.includes('@public'),
    )
    .map(line => `${file}: ${line.trim()}`),
);
if (undocumented.length > 0) {
  console.error(undocumented.join('\n'));
}
if (status !== 0) {
  console.error(`${stdout}${stderr}`);
}
if (isCheck && changed.length > 0) {
  console.error('Run "scripts/yarn api-reports" and commit the reports.');
}
process.exitCode =
  status !== 0 || undocumented.length > 0 || (isCheck && changed.length > 0)
    ? 1
    : 0;
