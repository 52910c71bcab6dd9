// Checks the documents: links have targets and reach each page, shell commands
// are executed by a test or marked with the reason, and generated parts are up to
// date. A shell block without a comment is allowed only if it adds or removes
// packages. The others follow one of these comments:
//
//   <!-- run in FOLDER -->       executed by this test, in the order of the page
//   <!-- run: FILE -->           executed by this test file, which reads the page
//   <!-- not run: REASON -->     not executed
//
// docs/install.md has its own comments (install-page.mjs). The blocks of
// docs/api.md run in plugins/directory-backend/src/__tests__/portal.integration.test.ts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { composeReference } from './configuration-reference.mjs';
import { publicPackages } from './public-packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Returns tracked and new files, relative to the root of the repository. */
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter(file => file && existsSync(join(root, file)));

const read = file => readFileSync(join(root, file), 'utf8');
const documents = files.filter(file => file.endsWith('.md'));

/** Returns a document without code. */
const proseOf = file =>
  read(file)
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '');

/** Returns the targets of links and images. */
function linksOf(file) {
  return [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to);
}

/**
 * Returns the anchors of headings. For pages of the site, returns only those
 * that are the same on GitHub and in mkdocs, which collapses spaces and
 * hyphens.
 */
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
    )
    .filter(anchor => !file.startsWith('docs/') || !/--|[^\w-]/.test(anchor));
}

/**
 * Returns the shell blocks of a document: text, line, and the comment before the
 * block, if there is one.
 */
function shellBlocksOf(file) {
  const text = read(file);
  const pattern =
    /(?:^ *<!-- (?<comment>.*) -->\n\n)?^ *```(?:sh|console)\n(?<block>[^]*?)^ *```$/gm;
  return [...text.matchAll(pattern)].map(match => ({
    ...match.groups,
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** Whether a block only adds or removes packages that exist. */
function managesPackages(block) {
  const lines = block.trim().split(/(?<!\\)\n/);
  return lines.every(line => {
    const [, names] =
      /^yarn (?:--cwd \S+ )?(?:add|remove) ((?:[\s\\]*@\S+)+)$/.exec(line) ??
      [];
    const own = names?.match(/@directory-gateway\/[\w-]+/g) ?? [];
    return (
      names && own.every(name => existsSync(join(root, 'node_modules', name)))
    );
  });
}

describe('shell commands', () => {
  const EXECUTED = ['docs/api.md', 'docs/install.md'];
  const written = documents.filter(
    file =>
      /^(docs|packages|plugins)\/|^(README|CONTRIBUTING)\.md$/.test(file) &&
      !EXECUTED.includes(file) &&
      !/CHANGELOG\.md$|\.api\.md$/.test(file),
  );

  it('are executed by a test, or marked with the reason', () => {
    const problems = written.flatMap(file =>
      shellBlocksOf(file)
        .filter(({ comment, block }) => {
          const [, test] = /^run: (\S+)$/.exec(comment ?? '') ?? [];
          return !(
            managesPackages(block) ||
            /^(run in \/|not run: )\S/.test(comment ?? '') ||
            (test && existsSync(join(root, test)) && reads(test, file))
          );
        })
        .map(({ line }) => `${file}:${line}`),
    );
    assert.deepEqual(problems, []);
  });

  /** Whether a test names the document that it reads. */
  const reads = (test, file) => read(test).includes(file);

  for (const file of written) {
    const blocks = shellBlocksOf(file).filter(({ comment }) =>
      comment?.startsWith('run in '),
    );
    if (blocks.length > 0) {
      it(`of ${file} succeed`, () => {
        const scratch = mkdtempSync(join(tmpdir(), 'documents-'));
        try {
          for (const { comment, block } of blocks) {
            const folder = comment.replace('run in ', '');
            execFileSync(
              'bash',
              ['-euc', block.replaceAll(folder, join(scratch, 'folder'))],
              {
                stdio: ['ignore', 'ignore', 'inherit'],
                env: {
                  ...process.env,
                  PATH: `${join(root, 'plugins/directory-backend-module-embedded-ca/bin')}:${process.env.PATH}`,
                },
              },
            );
          }
        } finally {
          rmSync(scratch, { recursive: true, force: true });
        }
      });
    }
  }
});

describe('links', () => {
  assert.ok(documents.length > 10);
  for (const file of documents) {
    it(`of ${file} have targets`, () => {
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

  it('of published READMEs stay in the package', () => {
    const outside = documents
      .filter(file => /^(packages|plugins)\/[^/]+\/README\.md$/.test(file))
      .filter(
        file => !JSON.parse(read(join(dirname(file), 'package.json'))).private,
      )
      .flatMap(file => linksOf(file).filter(link => link.startsWith('..')));
    assert.deepEqual(outside, []);
  });

  it('to other sites use https', () => {
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
  const pages = documents.filter(file => file.startsWith('docs/'));

  it('has all pages of its navigation', () => {
    assert.deepEqual(
      named.filter(page => !files.includes(page)),
      [],
    );
  });

  it('has every page except single decisions in its navigation', () => {
    assert.deepEqual(
      pages.filter(page => !named.includes(page) && !/\/\d{4}-/.test(page)),
      [],
    );
  });

  it('reaches every page by links', () => {
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
      pages.filter(file => !reached.has(file)),
      [],
    );
  });

  it('is built by mkdocs without warnings', () => {
    execFileSync(
      'mkdocs',
      ['build', '--strict', '--quiet', '--config-file', 'mkdocs-strict.yml'],
      { cwd: root, stdio: 'inherit' },
    );
  });
});

describe('the path of a request', () => {
  it('names existing files and folders', () => {
    const [section] = /^## Path of a request$[^]*?^## /m.exec(
      read('docs/architecture.md'),
    );
    const paths = [...section.matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(
      ([, path]) => path,
    );
    assert.ok(paths.length > 20);
    assert.deepEqual(
      paths.filter(
        path =>
          !existsSync(join(root, path)) &&
          !existsSync(join(root, 'plugins/directory-backend/src', path)),
      ),
      [],
    );
  });
});

describe('the configuration reference', () => {
  it('is generated from the schemas', async () => {
    assert.equal(
      read('docs/configuration.md'),
      await composeReference(),
      'run "scripts/yarn node scripts/configuration-reference.mjs"',
    );
  });
});

describe('the shipped configuration', () => {
  for (const file of files.filter(name => /^app-config.*\.yaml$/.test(name))) {
    it(`of ${file} allows users and groups only from listed locations`, () => {
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

  it('rejects locations of users in production', () => {
    const { catalog } = parse(read('app-config.production.yaml'));
    assert.equal(catalog.readonly, true);
  });
});

describe('the version of the packages', () => {
  const { version } = publicPackages[0].manifest;

  for (const [file, pattern] of [
    ['package.json', /"version": "(.+?)"/g],
    ['README.md', /\*\*Status:\*\* ([\d.]+),/g],
    ['docs/install.md', /@directory-gateway\/[\w-]+@\^([\d.]+)/g],
    ['docs/organization.md', /@directory-gateway\/[\w-]+@\^([\d.]+)/g],
  ]) {
    it(`is in ${file}`, () => {
      const found = [...read(file).matchAll(pattern)].map(([, name]) => name);
      assert.deepEqual([...new Set(found)], [version]);
    });
  }

  it('is that of all packages', () => {
    const others = publicPackages
      .filter(({ manifest }) => manifest.version !== version)
      .map(({ folder }) => folder);
    assert.deepEqual(others, []);
  });
});
