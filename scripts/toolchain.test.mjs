// The toolchain and the dependencies must be installed only from packages with a
// pinned SHA-512. The test does not need a registry: `npm` on PATH is a fake that
// serves one tarball.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const npm = `#!/bin/sh
case $1 in
  pack) cp "$SERVED" "$4/yarn.tgz" && echo yarn.tgz ;;
  install) for last; do :; done; cp "$last" "$INSTALLED" ;;
esac
`;

describe('toolchain.sh', () => {
  const pinned = Buffer.from('the bytes of a package');
  let folder;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolchain-'));
    mkdirSync(join(folder, 'scripts'));
    mkdirSync(join(folder, 'bin'));
    copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
    writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
    const script = readFileSync(join(root, 'scripts/toolchain.sh'), 'utf8');
    const hash = createHash('sha512').update(pinned).digest('base64');
    const repinned = script.replace(
      /(@yarnpkg\/cli-dist@\S+\)\s+echo sha512-)\S+/,
      `$1${hash}`,
    );
    assert.notEqual(repinned, script);
    writeFileSync(join(folder, 'scripts/toolchain.sh'), repinned);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /**
   * Sources the script in a folder in which only Yarn is missing; npm serves
   * the bytes.
   */
  function source(bytes) {
    const served = join(folder, 'served.tgz');
    const installed = join(folder, 'installed.tgz');
    writeFileSync(served, bytes);
    const { status, stderr } = spawnSync(
      'bash',
      ['-euc', '. "$0"', join(folder, 'scripts/toolchain.sh')],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: `${folder}/bin:${dirname(process.execPath)}:${
            process.env.PATH
          }`,
          SERVED: served,
          INSTALLED: installed,
        },
      },
    );
    return { status, stderr, installed: existsSync(installed) };
  }

  it('installs a package whose SHA-512 matches the pinned one', () => {
    assert.deepEqual(source(pinned), {
      status: 0,
      stderr: '',
      installed: true,
    });
  });

  it('does not install a package when one byte differs', () => {
    const changed = Buffer.from(pinned);
    changed[0] ^= 1;
    const { status, stderr, installed } = source(changed);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^toolchain: @yarnpkg\/cli-dist@\S+ is not the package that scripts\/toolchain\.sh pins, and was not installed/,
    );
    assert.equal(installed, false);
  });

  it('does not install a version without a pinned SHA-512', () => {
    const file = join(folder, 'package.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"yarn@[^"]*"/, '"yarn@4.0.0"'));
    const { status, stderr, installed } = source(pinned);
    assert.equal(status, 1);
    assert.match(stderr, /no SHA-512 is pinned for @yarnpkg\/cli-dist@4\.0\.0/);
    assert.equal(installed, false);
  });
});

describe('yarn.lock', () => {
  it('has a checksum of each package that is for all platforms', () => {
    const unpinned = readFileSync(join(root, 'yarn.lock'), 'utf8')
      .split('\n\n')
      .filter(
        entry =>
          /^  resolution: /m.test(entry) &&
          !/^  (checksum|conditions): |@workspace:|@link:/m.test(entry),
      );
    assert.deepEqual(unpinned, []);
  });
});

describe('native-packages.mjs', () => {
  let folder;
  let binary;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'native-'));
    const installed = join(folder, 'node_modules/tool-linux-x64');
    binary = join(installed, 'bin/tool');
    mkdirSync(dirname(binary), { recursive: true });
    mkdirSync(join(folder, 'scripts'));
    copyFileSync(
      join(root, 'scripts/native-packages.mjs'),
      join(folder, 'scripts/native-packages.mjs'),
    );
    writeFileSync(join(installed, 'package.json'), '{}');
    writeFileSync(binary, 'the bytes of a binary');
    writeFileSync(
      join(folder, 'yarn.lock'),
      `__metadata:
  version: 10

"tool-linux-x64@npm:1.0.0":
  version: 1.0.0
  resolution: "tool-linux-x64@npm:1.0.0"
  conditions: os=linux & cpu=x64
  languageName: node
  linkType: hard
`,
    );
    writeFileSync(
      join(folder, 'node_modules/.yarn-state.yml'),
      `"tool-linux-x64@npm:1.0.0":
  locations:
    - "node_modules/tool-linux-x64"
`,
    );
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const pin = hash =>
    writeFileSync(
      join(folder, 'scripts/native-packages.json'),
      JSON.stringify(hash ? { 'tool-linux-x64@npm:1.0.0': hash } : {}),
    );

  function check() {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'scripts/native-packages.mjs')],
      { encoding: 'utf8' },
    );
    return { status, stderr };
  }

  it('accepts the pinned files, and neither changed nor unpinned ones', () => {
    pin(undefined);
    const unpinned = check();
    assert.equal(unpinned.status, 1);
    assert.match(unpinned.stderr, /tool-linux-x64@npm:1\.0\.0 is not pinned/);

    pin(/ has (sha512-\S+)$/m.exec(unpinned.stderr)[1]);
    assert.deepEqual(check(), { status: 0, stderr: '' });

    writeFileSync(binary, 'other bytes of a binary');
    const changed = check();
    assert.equal(changed.status, 1);
    assert.match(changed.stderr, /^node_modules\/tool-linux-x64: /m);
  });
});
