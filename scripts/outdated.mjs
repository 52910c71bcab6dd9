// Lists direct dependencies whose newest version is outside of our range, with
// the reason in renovate.json, if one is recorded.
//
//   scripts/outdated        the same as `make outdated`

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';

const root = join(import.meta.dirname, '..');
const readJson = file => JSON.parse(readFileSync(join(root, file), 'utf8'));
const registry = execFileSync('npm', ['config', 'get', 'registry'], {
  encoding: 'utf8',
}).trim();

const { workspaces } = readJson('package.json');
const manifests = ['.', ...globSync(workspaces, { cwd: root })];

/** Packages that use a range of a dependency, by dependency and range. */
const users = new Map();
for (const folder of manifests) {
  const manifest = readJson(join(folder, 'package.json'));
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies']) {
    for (const [name, range] of Object.entries(manifest[kind] ?? {})) {
      if (!/^(?:workspace|link):/.test(range)) {
        const key = JSON.stringify({ name, range });
        users.set(key, (users.get(key) ?? new Set()).add(manifest.name));
      }
    }
  }
}

const reasons = new Map(
  readJson('renovate.json').packageRules.flatMap(
    ({ matchPackageNames, allowedVersions, description }) =>
      allowedVersions ? matchPackageNames.map(name => [name, description]) : [],
  ),
);

async function newestOf(name) {
  const response = await fetch(
    new URL(name.replace('/', '%2f'), `${registry.replace(/\/$/, '')}/`),
    { headers: { accept: 'application/vnd.npm.install-v1+json' } },
  );
  if (!response.ok) {
    throw new Error(`${name}: the registry returned ${response.status}`);
  }
  return (await response.json())['dist-tags'].latest;
}

const rows = [];
for (const [key, packages] of users) {
  const { name, range } = JSON.parse(key);
  rows.push({ name, range, newest: await newestOf(name), packages });
}
const outdated = rows
  .filter(({ range, newest }) => !semver.satisfies(newest, range))
  .sort((a, b) => a.name.localeCompare(b.name));
for (const { name, range, newest, packages } of outdated) {
  console.log(`${name} ${range}: the newest version is ${newest}`);
  console.log(`  in ${[...packages].join(', ')}`);
  console.log(
    `  ${reasons.get(name) ?? 'No reason is recorded in renovate.json.'}`,
  );
}
console.log(
  `${outdated.length} of ${rows.length} ranges exclude the newest version`,
);
