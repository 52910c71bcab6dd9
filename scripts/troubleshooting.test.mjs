// Compares the Troubleshooting, Monitor and Recover pages with the code: they list
// exactly the existing reasons, statuses, rules, health titles and metrics, and
// quote only existing log lines.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = file => readFileSync(join(root, file), 'utf8');

const troubleshooting = read('docs/troubleshooting.md');
const monitor = read('docs/monitor.md');
const recover = read('docs/recover.md');
const api = parse(read('plugins/directory-common/src/openapi.yaml'));
const { schemas } = api.components;

/** Returns the tables of a page, with the cells of each row. */
function tablesOf(page) {
  return page
    .split(/\n(?!\|)/)
    .map(block => block.split('\n').filter(line => line.startsWith('|')))
    .filter(lines => lines.length > 2)
    .map(lines => {
      const [header, , ...rows] = lines.map(line =>
        line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map(cell => cell.trim()),
      );
      return { header, rows };
    });
}

/** Returns the cells of a column in all tables that have it. */
function column(page, name) {
  const cells = tablesOf(page).flatMap(({ header, rows }) => {
    const index = header.indexOf(name);
    return index < 0 ? [] : rows.map(row => row[index]);
  });
  assert.ok(cells.length > 0, `no table has the column ${name}`);
  return cells;
}

/** Returns the texts in backticks. */
const codeIn = text => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

/** Returns the keys of a constant object in a source file. */
function keysOf(file, name) {
  const declaration = new RegExp(`const ${name}\\b[^=]*= \\{\n([^]*?)\n\\}`);
  const block = declaration.exec(read(file))?.[1];
  assert.ok(block, `${file} does not have "${name}"`);
  return [...block.matchAll(/^ {2}(\w+):/gm)].map(([, key]) => key);
}

/** Compares lists without regard to order; duplicates count. */
function assertSame(listed, known) {
  assert.deepEqual([...listed].sort(), [...known].sort());
}

const kerberosReasons = keysOf(
  'packages/kerberos/src/KerberosService.ts',
  'refusalMessages',
);
const signInReasons = keysOf(
  'plugins/auth-backend-module-kerberos-provider/src/Principal.ts',
  'messages',
);
const unauthorizedReasons = schemas.UnauthorizedReason.enum;

describe('Troubleshooting', () => {
  it('lists each API and sign-in reason once', () => {
    const handlers = read(
      'plugins/auth-backend-module-kerberos-provider/src/KerberosRouteHandlers.ts',
    );
    const unavailableReasons = [...handlers.matchAll(/reason: '(\w+)'/g)].map(
      ([, reason]) => reason,
    );
    const known = new Set([
      ...unauthorizedReasons,
      ...kerberosReasons,
      ...signInReasons,
      ...unavailableReasons,
    ]);
    assertSame(column(troubleshooting, '`reason`').flatMap(codeIn), known);
  });

  it('lists each rule of a signing request once', () => {
    assertSame(
      column(troubleshooting, '`rule`').flatMap(codeIn),
      schemas.SigningRule.enum,
    );
  });

  it('lists each error status of the contract and of the servers in front of the API', () => {
    const inContract = Object.values(api.paths)
      .flatMap(path => Object.values(path))
      .flatMap(({ responses = {} }) => Object.keys(responses))
      .filter(status => /^[45]/.test(status));
    // 405 and 500 from the router, 421 from root-http-router, 431 from Node.js.
    const others = ['405', '421', '431', '500'];
    assertSame(
      new Set(column(troubleshooting, 'status')),
      new Set([...inContract, ...others]),
    );
  });

  it('lists each title of the health check with its reason', () => {
    const source = read(
      'plugins/directory-backend/src/http/documents/publishHealth.ts',
    );
    const titles = [...source.matchAll(/^ {2}(\w+): '([^']+)',$/gm)].map(
      ([, reason, title]) => [`Reads are suspended: ${title}`, reason],
    );
    assertSame(
      titles.map(([, reason]) => reason),
      keysOf(
        'packages/directory-core/src/replica/sync/ReplicaState.ts',
        'ERROR_REASONS',
      ),
    );
    const others = [...source.matchAll(/return '([^']+)'/g)].map(
      ([, title]) => [title],
    );
    const listed = tablesOf(troubleshooting).find(
      ({ header }) => header[0] === 'title',
    );
    assertSame(
      listed.rows.map(cells => codeIn(cells.slice(0, 2).join(' ')).join()),
      [...titles, ...others].map(each => each.join()),
    );
  });
});

it('explains each reason for a 401 on the sign-in page', () => {
  assertSame(
    keysOf(
      'plugins/app-module-kerberos-sign-in/src/translation.ts',
      'reasonMessages',
    ),
    new Set([...unauthorizedReasons, ...kerberosReasons, ...signInReasons]),
  );
});

/**
 * Returns the sources without tests; interpolations become `…`, and joined
 * literals are merged.
 */
const sources = execFileSync(
  'git',
  [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    'packages',
    'plugins',
  ],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter(file => /\/src\/.*\.tsx?$/.test(file) && existsSync(join(root, file)))
  .filter(file => !/__testUtils__|\.test\.|^packages\/realm\//.test(file))
  .map(file => read(file))
  .map(withoutInterpolations)
  .join('\n')
  .replace(/['"`]\s*\+\s*['"`]/g, '');

function withoutInterpolations(source) {
  let text = source;
  for (let before; before !== text;) {
    before = text;
    text = text.replace(/\$?\{[^{}]*\}/g, match =>
      match.startsWith('$') ? '…' : match.replace(/[{}]/g, ' '),
    );
  }
  return text;
}

describe('log lines and messages', () => {
  // Messages of Node.js, Backstage, Kerberos and nginx.
  const foreign = [
    'unable to verify the first certificate',
    'self-signed',
    'Hostname/IP does not match',
    'result code 49',
    'Migration table is already locked',
    'JavaScript heap out of memory',
    'Request Header Or Cookie Too Large',
    'Server not found in Kerberos database',
  ];

  for (const [name, page, columns] of [
    [
      'troubleshooting.md',
      troubleshooting,
      ['log', 'log or symptom', '`message` or symptom', 'symptom'],
    ],
    ['monitor.md and recover.md', monitor + recover, []],
  ]) {
    it(`quoted in ${name} exist`, () => {
      const cells = columns.flatMap(each => column(page, each));
      const inProse = [...page.matchAll(/log(?: lists[^:]*)?: `[^`]+`/g)].map(
        ([text]) => text,
      );
      const quotes = [...cells, ...inProse].flatMap(codeIn);
      const fragments = quotes
        .filter(quote => !foreign.some(text => quote.includes(text)))
        // Excludes single words and settings.
        .filter(quote => / /.test(quote) && !/^\w+(\.\w+)+: /.test(quote))
        .flatMap(quote => quote.split(/…|<[a-z_]+>/))
        .map(fragment => fragment.trim())
        .filter(fragment => / /.test(fragment));
      assert.ok(fragments.length > 3);
      assert.deepEqual(
        fragments.filter(fragment => !sources.includes(fragment)),
        [],
      );
    });
  }
});

describe('Monitor', () => {
  const listed = column(monitor, 'metric').flatMap(cell => {
    const [first, ...others] = codeIn(cell);
    return [
      first,
      ...others.map(other => first.replace(/\.[^.]+$/, '') + other),
    ];
  });

  it('lists each metric once', () => {
    const names = [
      ...sources.matchAll(
        /create(?:Counter|Histogram|UpDownCounter|ObservableGauge|ObservableCounter)(?:<\w+>)?\(\s*['`]([\w.…]+)['`]/g,
      ),
    ].map(([, name]) => name);
    const observed = [
      ...sources.matchAll(/observe(?:OneOf)?\(\s*'(\w+)'/g),
    ].map(([, name]) => `directory.replica.${name}`);
    assertSame(
      listed,
      new Set([...names.filter(name => !name.includes('…')), ...observed]),
    );
  });

  it('names existing metrics in its alerts', () => {
    const alerts = column(monitor, 'condition')
      .flatMap(codeIn)
      .filter(code => /^[a-z_]+(\.[a-z_]+)+$/.test(code));
    assert.ok(alerts.length > 10);
    assert.deepEqual(
      alerts.filter(alert => !listed.some(name => name.endsWith(alert))),
      [],
    );
  });
});
