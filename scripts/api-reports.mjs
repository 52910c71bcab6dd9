// Writes the API reports of the public packages, report*.api.md, from the
// declarations of `yarn tsc`. With --check, restores the reports and exits with
// status 1 when they were outdated.
//
// TypeScript writes the members of inferred types, such as the messages of a
// translation, in an order that depends on the files that it has compiled
// before. This script sorts neighboring members that are on one line each.

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

/** Sorts each run of lines `name: type;` with the same indent. */
const sortMembers = report =>
  report.replace(
    /^( +)(?:readonly )?['\w].*;\n(?:\1(?:readonly )?['\w].*;\n)+/gm,
    lines =>
      lines
        .split(/(?<=;\n)/)
        .sort()
        .join(''),
  );

const before = readReports();
const { status, stdout, stderr } = spawnSync(
  'yarn',
  [
    'backstage-repo-tools',
    'api-reports',
    ...publicPackages.map(({ folder }) => folder),
    // The sources of other packages are read, too; scripts/packages.test.mjs
    // checks the comments, because members of generated types do not have any.
    '--omit-messages=ae-wrong-input-file-type,ae-undocumented',
  ],
  { cwd: root, encoding: 'utf8' },
);
for (const [file, report] of readReports()) {
  writeFileSync(join(root, file), sortMembers(report));
}
const after = readReports();
const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
  file => before.get(file) !== after.get(file),
);
if (isCheck) {
  for (const file of changed.filter(each => before.has(each))) {
    writeFileSync(join(root, file), before.get(file));
  }
}
for (const file of changed) {
  console.error(`${file} is ${isCheck ? 'outdated' : 'updated'}`);
}
if (status !== 0) {
  console.error(`${stdout}${stderr}`);
}
if (isCheck && changed.length > 0) {
  console.error('Run "scripts/yarn api-reports" and commit the reports.');
}
process.exitCode = status !== 0 || (isCheck && changed.length > 0) ? 1 : 0;
