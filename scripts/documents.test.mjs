// The documents are true as far as a program can tell: links lead somewhere, and
// to every page, the configuration reference is current, and the
// catalog takes the project's own entities. Examples of the API are run by
// plugins/directory-backend/src/examples.integration.test.ts.

import {
  componentEntityV1alpha1Validator,
  EntityPolicies,
  FieldFormatEntityPolicy,
  NoForeignRootFieldsEntityPolicy,
  SchemaValidEntityPolicy,
  systemEntityV1alpha1Validator,
} from '@backstage/catalog-model';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What is in the repository, or about to be; relative to its root. */
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter(file => file && existsSync(join(root, file)));

const read = file => readFileSync(join(root, file), 'utf8');
const documents = files.filter(file => file.endsWith('.md'));

/** Without code, in which nothing is a link. */
const proseOf = file =>
  read(file)
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '');

/** The targets of a document's links and pictures. */
function linksOf(file) {
  return [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to);
}

/** The anchors of a document's headings, as GitHub and mkdocs make them. */
function anchorsOf(file) {
  return read(file)
    .replace(/^```[^]*?^```$/gm, '')
    .split('\n')
    .filter(line => /^#+ /.test(line))
    .map(line =>
      line
        .replace(/^#+ /, '')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
}

describe('links', () => {
  assert.ok(documents.length > 10);
  for (const file of documents) {
    it(`of ${file} lead somewhere`, () => {
      const broken = linksOf(file)
        .filter(link => !/^[a-z]+:/.test(link))
        .filter(link => {
          const [path, anchor] = link.split('#');
          const target = path
            ? resolve(root, dirname(file), path)
            : join(root, file);
          if (!existsSync(target)) {
            return true;
          }
          return (
            anchor !== undefined &&
            !anchorsOf(relative(root, target)).includes(anchor)
          );
        });
      assert.deepEqual(broken, []);
    });
  }

  it('are https where they lead elsewhere', () => {
    const plain = documents.flatMap(file =>
      linksOf(file).filter(
        link => /^http:/.test(link) && !/^http:\/\/localhost/.test(link),
      ),
    );
    assert.deepEqual(plain, []);
  });
});

describe('the site', () => {
  const { nav } = parse(read('mkdocs.yml'));
  const pagesOf = node =>
    typeof node === 'string'
      ? [node]
      : Object.values(node).flatMap(child => pagesOf(child));
  const named = nav.flatMap(pagesOf).map(page => `docs/${page}`);

  it('has the pages that it names', () => {
    assert.deepEqual(
      named.filter(page => !files.includes(page)),
      [],
    );
  });

  it('leads to every page, from one to the next', () => {
    const reached = new Set(['README.md', ...named]);
    for (const file of reached) {
      for (const link of linksOf(file)) {
        const target = join(dirname(file), link.split('#')[0]);
        if (documents.includes(target)) {
          reached.add(target);
        }
      }
    }
    assert.deepEqual(
      documents.filter(file => file.startsWith('docs/') && !reached.has(file)),
      [],
    );
  });
});

describe('the configuration reference', () => {
  it('is what the schemas say', () => {
    execFileSync(
      process.execPath,
      ['scripts/configuration-reference.mjs', '--check'],
      { cwd: root, stdio: 'inherit' },
    );
  });
});

describe('the tables of performance', () => {
  it('are those of the results', () => {
    execFileSync('benchmarks/documents', ['--check'], {
      cwd: root,
      stdio: 'inherit',
    });
  });
});

describe('the shipped configuration', () => {
  for (const file of files.filter(name => /^app-config.*\.yaml$/.test(name))) {
    it(`of ${file} allows users and groups only from named locations`, () => {
      const { catalog = {} } = parse(read(file));
      const kinds = (catalog.rules ?? [])
        .filter(rule => !rule.locations)
        .flatMap(rule => rule.allow)
        .map(allowed => (allowed.kind ?? allowed).toLowerCase());
      assert.deepEqual(
        kinds.filter(kind => ['user', 'group'].includes(kind)),
        [],
      );
    });
  }

  it('refuses locations from users in production', () => {
    const { catalog } = parse(read('app-config.production.yaml'));
    assert.equal(catalog.readonly, true);
  });
});

describe('the catalog', () => {
  const policy = EntityPolicies.allOf([
    new SchemaValidEntityPolicy(),
    new NoForeignRootFieldsEntityPolicy(),
    new FieldFormatEntityPolicy(),
  ]);
  const validators = {
    Component: componentEntityV1alpha1Validator,
    System: systemEntityV1alpha1Validator,
  };
  const catalogs = files.filter(file => file.endsWith('catalog-info.yaml'));

  for (const file of catalogs) {
    it(`takes ${file}`, async () => {
      for (const document of parseAllDocuments(read(file))) {
        const entity = document.toJS();
        await policy.enforce(entity);
        assert.equal(await validators[entity.kind].check(entity), true);
      }
    });
  }

  it('knows every package that is published', () => {
    const published = files
      .filter(file => /^(packages|plugins)\/[^/]+\/package\.json$/.test(file))
      .filter(file => !JSON.parse(read(file)).private)
      .map(file => join(dirname(file), 'catalog-info.yaml'));
    assert.ok(published.length > 5);
    assert.deepEqual(
      published.filter(file => !catalogs.includes(file)),
      [],
    );
  });
});
