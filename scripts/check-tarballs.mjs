import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { publicPackages } from './public-packages.mjs';

/**
 * Checks the tarballs of `make pack`: their files and manifests, that their
 * entry points load in Node.js, and that their declarations compile. Checks
 * that the SBOM has each package, and SHA512SUMS each file.
 *
 * @param options - `folder`: folder below `root` in which they are unpacked;
 *   their dependencies are those of the repository
 */
export function checkTarballs({ root, folder }) {
  const packages = join(root, '.build/packages');
  const names = publicPackages.map(({ manifest }) => manifest.name);
  const require = createRequire(join(folder, 'index.js'));
  const declarations = [];
  for (const { folder: source, manifest, tarball } of publicPackages) {
    const { name, version } = manifest;
    const target = join(folder, 'node_modules', name);
    mkdirSync(target, { recursive: true });
    const options = ['-C', target, '--strip-components=1'];
    execFileSync('tar', ['-xzf', join(packages, tarball), ...options]);
    // Versions of dependencies that only this package needs.
    const own = join(root, source, 'node_modules');
    if (existsSync(own)) {
      symlinkSync(own, join(target, 'node_modules'));
    }

    const list = ['-tzf', join(packages, tarball)];
    const files = execFileSync('tar', list, { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(file => file.replace(/^package\//, ''));
    const packed = JSON.parse(readFileSync(join(target, 'package.json')));
    const required = ['README.md', 'CHANGELOG.md', 'LICENSE', packed.types];
    for (const file of [...required, packed.main, packed.configSchema]) {
      assert.ok(!file || existsSync(join(target, file)), `${name} has ${file}`);
    }
    const sources = files.filter(file =>
      /^src\/|\.test\.|(?<!\.d)\.tsx?$/.test(file),
    );
    assert.deepEqual(sources, [], `${name} has neither sources nor tests`);
    const dependencies = { ...packed.dependencies, ...packed.peerDependencies };
    for (const [dependency, range] of Object.entries(dependencies)) {
      assert.doesNotMatch(range, /^(workspace|file|link|portal):/, name);
      if (dependency.startsWith('@directory-gateway/')) {
        assert.ok(names.includes(dependency), `${name} needs ${dependency}`);
        assert.equal(range, `^${version}`);
      }
    }
    declarations.push(join(target, packed.types));
  }
  // After all are unpacked, because they require each other.
  for (const { manifest } of publicPackages) {
    if (!manifest.backstage.role.startsWith('frontend-')) {
      assert.ok(Object.keys(require(manifest.name)).length > 0, manifest.name);
    }
  }

  const [{ manifest }] = publicPackages;
  const sbom = join(packages, `directory-gateway-${manifest.version}.cdx.json`);
  const { components } = JSON.parse(readFileSync(sbom));
  const described = components.map(({ group, name }) => `${group}/${name}`);
  assert.deepEqual(
    names.filter(name => !described.includes(name)),
    [],
    'the SBOM has all packages',
  );
  const check = ['--check', '--strict', '--quiet', 'SHA512SUMS'];
  execFileSync('sha512sum', check, { cwd: packages });
  compile(declarations, { root, folder });
}

/** Compiles declarations; ignores errors in those of other packages. */
function compile(files, { root, folder }) {
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    [
      ...['--noEmit', '--strict', '--skipLibCheck', 'false'],
      ...['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'],
      ...['--module', 'esnext', '--moduleResolution', 'bundler'],
      ...['--typeRoots', join(root, 'node_modules/@types')],
      ...['--types', 'node,jest'],
      ...files,
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  const own = /^node_modules\/@directory-gateway\/[^/]+\/(?!node_modules\/)/;
  assert.deepEqual(
    stdout.split('\n').filter(line => own.test(line)),
    [],
  );
}
