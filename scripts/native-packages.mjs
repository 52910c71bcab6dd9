// Checks the installed packages that are for one platform only, such as the
// binaries of esbuild. yarn.lock has no checksums for these, so
// scripts/native-packages.json has the SHA-512 of their files.
//
//   scripts/yarn node scripts/native-packages.mjs         checks the installed packages
//   scripts/yarn node scripts/native-packages.mjs --pin   downloads those for Linux and pins them

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const PINS = join(root, 'scripts/native-packages.json');

/** Packages of yarn.lock without a checksum, and the platform of each. */
const platforms = new Map(
  readFileSync(join(root, 'yarn.lock'), 'utf8')
    .split('\n\n')
    .filter(entry => !entry.includes('\n  checksum: '))
    .map(entry => [
      /^  resolution: "(.+)"$/m.exec(entry)?.[1],
      /^  conditions: (.+)$/m.exec(entry)?.[1],
    ])
    .filter(([, platform]) => platform),
);

/** Packages for the platforms that scripts/toolchain.sh supports. */
const pinned = [...platforms]
  .filter(([, platform]) => /os=linux & cpu=(x64|arm64)\b/.test(platform))
  .filter(([, platform]) => !platform.includes('libc=musl'))
  .map(([name]) => name);

/** Returns the SHA-512 of the names and contents of all files in a folder. */
function hashOf(folder) {
  const hash = createHash('sha512');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => [file.slice(folder.length + 1), file])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, file] of files) {
    const content = readFileSync(file);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return `sha512-${hash.digest('base64')}`;
}

/**
 * Returns the hash of a published package. `npm pack` does not run its scripts.
 */
function hashOfPublished(name) {
  const folder = mkdtempSync(join(tmpdir(), 'native-'));
  try {
    const tarball = execFileSync(
      'npm',
      ['pack', name.replace('@npm:', '@'), '--pack-destination', folder],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    ).trim();
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder]);
    return hashOf(join(folder, 'package'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function pin() {
  const pins = Object.fromEntries(
    pinned.map(name => [name, hashOfPublished(name)]),
  );
  writeFileSync(PINS, `${JSON.stringify(pins, undefined, 2)}\n`);
}

function check() {
  const pins = JSON.parse(readFileSync(PINS, 'utf8'));
  const state = join(root, 'node_modules/.yarn-state.yml');
  const problems = pinned
    .filter(name => !pins[name])
    .map(name => `${name} is not pinned`);
  for (const entry of readFileSync(state, 'utf8').split('\n\n')) {
    const [, name] = /^"(.+)":$/m.exec(entry) ?? [];
    if (platforms.has(name)) {
      for (const [, folder] of entry.matchAll(/^ {4}- "(.+)"$/gm)) {
        const actual = hashOf(join(root, folder));
        if (actual !== pins[name]) {
          problems.push(`${folder}: ${name} has ${actual}`);
        }
      }
    }
  }
  if (problems.length > 0) {
    console.error(
      [
        'dependencies: these packages differ from scripts/native-packages.json:',
        ...problems,
        'If yarn.lock has new versions, run "scripts/yarn node scripts/native-packages.mjs --pin". Otherwise, check the npm registry.',
      ].join('\n'),
    );
    process.exitCode = 1;
  }
}

if (process.argv.includes('--pin')) {
  pin();
} else {
  check();
}
