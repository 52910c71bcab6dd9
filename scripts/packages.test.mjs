// Checks the manifests of the public packages, and the statements about them in
// docs/install.md and the API reports. scripts/test-install checks the
// tarballs.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { applyDiff, mergeText, readInstallPage } from './install-page.mjs';
import { publicPackages } from './public-packages.mjs';

const root = join(import.meta.dirname, '..');
const read = file => readFileSync(join(root, file), 'utf8');
const project = JSON.parse(read('package.json'));
/** All packages have the same version. */
const { version } = publicPackages[0].manifest;

describe('the public packages', () => {
  assert.ok(publicPackages.length > 10);

  for (const { folder, manifest } of publicPackages) {
    it(`${folder} can be published`, () => {
      assert.match(manifest.name, /^@directory-gateway\/[a-z0-9-]+$/);
      assert.equal(manifest.version, version);
      assert.equal(manifest.license, project.license);
      assert.match(manifest.description, /^\S.{10,}[^.]$/);
      assert.equal(manifest.publishConfig.access, 'public');
      assert.match(
        manifest.backstage.role,
        /^((node|common|web)-library|(frontend|backend)-plugin(-module)?)$/,
      );
      assert.ok(manifest.files.includes('dist'));
      assert.ok(manifest.files.includes('CHANGELOG.md'));
      assert.equal(manifest.scripts.prepack, 'backstage-cli package prepack');
      assert.equal(manifest.scripts.postpack, 'backstage-cli package postpack');
      if (manifest.configSchema) {
        assert.ok(manifest.files.includes(manifest.configSchema));
      }
      // Only Node.js runs these packages; for browsers, no version is required.
      if (/^(node|backend)/.test(manifest.backstage.role)) {
        assert.equal(manifest.engines.node, project.engines.node);
      }
      assert.match(read(`${folder}/README.md`), /^# \S/);
    });

    it(`${folder} depends only on public packages`, () => {
      const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) =>
        name.startsWith('@directory-gateway/'),
      );
      for (const [name, range] of own) {
        assert.equal(range, 'workspace:^');
        assert.ok(publicPackages.some(item => item.manifest.name === name));
      }
    });
  }
});

describe('the SBOM of `make pack`', () => {
  it('has all public packages, as dependencies of the root', () => {
    assert.deepEqual(
      Object.keys(project.dependencies).sort(),
      publicPackages.map(({ manifest }) => manifest.name).sort(),
    );
  });
});

describe('the version', () => {
  const versions = [
    ['package.json', /"version": "(.+?)"/g],
    ['README.md', /\*\*Status:\*\* ([\d.]+),/g],
    ['docs/install.md', /@directory-gateway\/[\w-]+@\^([\d.]+)/g],
    ['docs/organization.md', /@directory-gateway\/[\w-]+@\^([\d.]+)/g],
  ];

  for (const [file, pattern] of versions) {
    it(`of ${file} is that of the packages`, () => {
      const found = [...read(file).matchAll(pattern)].map(([, name]) => name);
      assert.ok(found.length > 0);
      assert.deepEqual(
        found,
        found.map(() => version),
      );
    });
  }

  it('has an entry in every changelog', () => {
    for (const { folder } of publicPackages) {
      assert.match(
        read(`${folder}/CHANGELOG.md`),
        new RegExp(`^## ${version}$`, 'm'),
      );
    }
  });
});

describe('the API reports', () => {
  const reports = globSync('{packages,plugins}/*/report*.api.md', {
    cwd: root,
  });

  it('exist for every public package', () => {
    const missing = publicPackages.filter(
      ({ folder }) => !reports.includes(`${folder}/report.api.md`),
    );
    assert.deepEqual(missing, []);
  });

  for (const report of reports) {
    it(`of ${report} has documented exports`, () => {
      const undocumented = read(report)
        .split('\n')
        .filter(line =>
          // The types of the OpenAPI document have keys without a description.
          report.includes('directory-common')
            ? line.includes('@public (undocumented)')
            : line.includes('(undocumented)'),
        );
      assert.deepEqual(undocumented, []);
    });
  }
});

describe('the install page', () => {
  const steps = readInstallPage();
  const text = read('docs/install.md');

  it('names every public package with its version', () => {
    const [resolutions] = steps
      .filter(
        ({ action, file }) => action === 'merge' && file === 'package.json',
      )
      .map(step => parse(step.text).resolutions);
    assert.deepEqual(
      resolutions,
      Object.fromEntries([
        ...publicPackages.map(({ manifest, tarball }) => [
          manifest.name,
          `file:./vendor/${tarball}`,
        ]),
        ['react-aria-components', project.resolutions['react-aria-components']],
      ]),
    );
    const named = [...text.matchAll(/(@directory-gateway\/[\w-]+)@/g)];
    assert.ok(named.length > 4);
    for (const [, name] of named) {
      assert.ok(
        publicPackages.some(item => item.manifest.name === name),
        name,
      );
    }
  });

  it('states the required versions', () => {
    const required = name =>
      new RegExp(`^\\| ${name} +\\| (.+?) +\\|`, 'm').exec(text)[1];
    const backstage = JSON.parse(read('backstage.json'));
    assert.ok(
      backstage.version.startsWith(
        `${required('Backstage').split(' or later')[0]}.`,
      ),
    );
    assert.deepEqual(
      required('Node.js').split(' or '),
      project.engines.node.split(' || ').map(range => `\`${range}\``),
    );
    assert.ok(text.includes(project.packageManager.replace('yarn@', '')));
  });
});

describe('the runner of the install page', () => {
  it('replaces lines and keeps the rest', () => {
    const diff = ' a\n-b\n+c\n\n d\n';
    assert.equal(applyDiff('x\na\nb\n\nd\ny\n', diff), 'x\na\nc\n\nd\ny\n');
    assert.throws(() => applyDiff('a\nd\n', diff), /occur 0 times/);
  });

  it('merges keys and replaces lists', () => {
    assert.deepEqual(
      parse(mergeText('a.yaml', 'a: { b: [1], c: 2 }', 'a: { b: [3] }')),
      { a: { b: [3], c: 2 } },
    );
  });
});
