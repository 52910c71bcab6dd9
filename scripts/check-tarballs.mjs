import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { publicPackages } from './public-packages.mjs';

/**
 * Checks the tarballs of `make pack`: their files and manifests, that their
 * entry points load, and that their declarations compile. Checks that the SBOM
 * has each package with its dependencies, and SHA512SUMS each file.
 *
 * @param options - `folder`: folder below `root` in which they are unpacked;
 *   their dependencies are those of the repository
 */
export async function checkTarballs({ root, folder }) {
  const names = publicPackages.map(({ manifest }) => manifest.name);
  const unpacked = publicPackages.map(item => {
    const target = join(folder, 'node_modules', item.manifest.name);
    mkdirSync(target, { recursive: true });
    const tarball = join(root, '.build/packages', item.tarball);
    execFileSync('tar', [
      '-xzf',
      tarball,
      '-C',
      target,
      '--strip-components=1',
    ]);
    // Versions of dependencies that only this package needs.
    const own = join(root, item.folder, 'node_modules');
    if (existsSync(own)) {
      symlinkSync(own, join(target, 'node_modules'));
    }
    return { ...item, tarball, target };
  });

  for (const { manifest, tarball, target } of unpacked) {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(file => file.replace(/^package\//, ''));
    const packed = JSON.parse(
      readFileSync(join(target, 'package.json'), 'utf8'),
    );
    const where = manifest.name;
    for (const file of [
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      packed.main,
      packed.types,
    ]) {
      assert.ok(existsSync(join(target, file)), `${where} has ${file}`);
    }
    if (manifest.configSchema) {
      assert.ok(files.includes(packed.configSchema), `${where} has its schema`);
    }
    assert.deepEqual(
      files.filter(
        file => /^src\/|\.test\.|\.tsx?$/.test(file) && !/\.d\.ts$/.test(file),
      ),
      [],
      `${where} has neither sources nor tests`,
    );
    for (const [name, range] of Object.entries({
      ...packed.dependencies,
      ...packed.peerDependencies,
    })) {
      assert.doesNotMatch(range, /^(workspace|file|link|portal):/, where);
      if (name.startsWith('@directory-gateway/')) {
        assert.ok(names.includes(name), `${where} depends on ${name}`);
        assert.equal(range, `^${manifest.version}`);
      }
    }
  }

  checkSbom(root);
  execFileSync('sha512sum', ['--check', '--strict', '--quiet', 'SHA512SUMS'], {
    cwd: join(root, '.build/packages'),
  });
  await loadEntryPoints(unpacked, { root, folder });
  compileDeclarations(unpacked, { root, folder });
}

/** Compares the SBOM with the manifests of the packages. */
function checkSbom(root) {
  const [{ manifest }] = publicPackages;
  const { components, dependencies } = JSON.parse(
    readFileSync(
      join(
        root,
        `.build/packages/directory-gateway-${manifest.version}.cdx.json`,
      ),
      'utf8',
    ),
  );
  const byRef = new Map(components.map(item => [item['bom-ref'], item]));
  const nameOf = ({ group, name }) => (group ? `${group}/${name}` : name);
  const described = new Map(
    dependencies
      .filter(({ ref }) => byRef.get(ref)?.group === '@directory-gateway')
      .map(({ ref, dependsOn = [] }) => [
        `${nameOf(byRef.get(ref))}@${byRef.get(ref).version}`,
        dependsOn.map(dependency => nameOf(byRef.get(dependency))).sort(),
      ]),
  );
  for (const { manifest: expected } of publicPackages) {
    const sbom = described.get(`${expected.name}@${expected.version}`);
    assert.ok(sbom, `the SBOM has ${expected.name}`);
    for (const dependency of Object.keys(expected.dependencies ?? {})) {
      assert.ok(
        sbom.includes(dependency),
        `in the SBOM, ${expected.name} depends on ${dependency}`,
      );
    }
  }
}

/** Requires the packages for Node.js and bundles those for browsers. */
async function loadEntryPoints(unpacked, { root, folder }) {
  const require = createRequire(join(folder, 'index.js'));
  const frontends = unpacked.filter(({ manifest }) =>
    manifest.backstage.role.startsWith('frontend-'),
  );
  for (const item of unpacked) {
    if (!frontends.includes(item)) {
      const exported = require(item.manifest.name);
      assert.ok(Object.keys(exported).length > 0, item.manifest.name);
    }
  }
  const { build } = createRequire(join(root, 'plugins/directory/package.json'))(
    'esbuild',
  );
  await build({
    absWorkingDir: folder,
    stdin: {
      contents: frontends
        .map(({ manifest }) => `export * from '${manifest.name}';`)
        .join('\n'),
      resolveDir: folder,
    },
    bundle: true,
    write: false,
    outdir: folder,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
    loader: { '.svg': 'empty', '.png': 'empty', '.woff2': 'empty' },
  });
}

/**
 * Compiles the declarations; does not report errors in those of other packages.
 */
function compileDeclarations(unpacked, { root, folder }) {
  const ts = createRequire(join(root, 'package.json'))('typescript');
  const program = ts.createProgram(
    unpacked.map(({ manifest, target }) =>
      // Backstage's packager moves the entry points to `dist`.
      join(target, manifest.publishConfig.types ?? 'dist/index.d.ts'),
    ),
    {
      noEmit: true,
      strict: true,
      skipLibCheck: false,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: ['node', 'jest'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
  );
  const inPackage = new Set(
    unpacked.map(({ manifest }) => join('node_modules', manifest.name)),
  );
  const own = program.getSourceFiles().filter(({ fileName }) => {
    const [, scope, name, next] = fileName.slice(folder.length + 1).split('/');
    return (
      fileName.startsWith(`${folder}/`) &&
      inPackage.has(join('node_modules', scope, name)) &&
      next !== 'node_modules'
    );
  });
  assert.ok(own.length >= unpacked.length);
  const errors = own
    .flatMap(file => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ])
    .map(diagnostic =>
      ts.formatDiagnostic(diagnostic, {
        getCurrentDirectory: () => folder,
        getCanonicalFileName: name => name,
        getNewLine: () => '\n',
      }),
    );
  assert.deepEqual(errors, []);
}
