import { ConfigReader } from '@backstage/config';
import {
  type DoctorCheck,
  type DoctorContext,
  explainConnectionError,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import dns from 'node:dns/promises';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { kerberosChecks } from './kerberosChecks';
import { allChecks } from './main';
import { Portal } from './Portal';
import { checkNode, configurationCheck } from './portalChecks';
import { formatResults, runChecks } from './runChecks';

const REPOSITORY = resolve(__dirname, '../../../..');

const context: DoctorContext = {
  config: new ConfigReader({}),
  env: {},
  hasPackage: () => false,
  database: async () => undefined,
};

const check = (
  id: string,
  run: DoctorCheck['run'],
  ...after: readonly string[]
): DoctorCheck => ({ id, after, run });

describe('runChecks', () => {
  it('skips checks that depend on a failed one, directly or not', async () => {
    const run = jest.fn(async () => finding.ok('fine'));
    const results = await runChecks(
      [
        check('last', run, 'middle'),
        check('middle', run, 'first'),
        check('first', async () => finding.fail('broken', 'repair it')),
        check('other', run, 'warned', 'unknown'),
        check('warned', async () => finding.warn('old', 'renew it')),
      ],
      context,
      { deadlineMs: 60_000 },
    );
    expect(
      results.map(({ id, status, message }) => [id, status, message]),
    ).toEqual([
      ['last', 'skip', 'first failed'],
      ['middle', 'skip', 'first failed'],
      ['first', 'fail', 'broken'],
      ['other', 'ok', 'fine'],
      ['warned', 'warn', 'old'],
    ]);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('runs checks that depend on one that is not configured', async () => {
    const results = await runChecks(
      [
        check('part', async () => finding.skip('not configured')),
        check('whole', async () => finding.ok('fine'), 'part'),
      ],
      context,
      { deadlineMs: 60_000 },
    );
    expect(results.map(({ status }) => status)).toEqual(['skip', 'ok']);
  });

  it('fails a check that throws or does not end', async () => {
    const results = await runChecks(
      [
        check('throws', async () => {
          throw new Error('unexpected\n    at a line');
        }),
        check('hangs', () => new Promise(() => {})),
      ],
      context,
      { deadlineMs: 100 },
    );
    expect(results.map(({ status, message }) => [status, message])).toEqual([
      ['fail', 'unexpected'],
      ['fail', 'No result within 0.1 seconds'],
    ]);
    expect(results.map(({ fix }) => fix)).toEqual([
      [expect.stringContaining('correct the key')],
      [expect.stringContaining('reaches the servers')],
    ]);
  });
});

it('formats a line for each check and each fix', () => {
  expect(
    formatResults([
      { id: 'one', ...finding.ok('fine') },
      { id: 'longer', ...finding.fail('broken', 'first', 'second') },
      { id: 'two', ...finding.warn('old', 'renew it') },
    ]),
  ).toBe(`ok    one     fine
FAIL  longer  broken
      fix: first
      fix: second
warn  two     old
      fix: renew it

1 ok, 1 warning, 1 failure, 0 skipped
`);
});

it.each([
  ['24.1.0', 'ok'],
  ['22.19.0', 'ok'],
  ['22.18.0', 'fail'],
  ['23.3.0', 'fail'],
  ['26.0.0', 'fail'],
])('Node.js %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

it.each([
  ['ENOTFOUND', 'dns', /getent hosts ipa.example.test/],
  ['ECONNREFUSED', 'connect', /ipactl start/],
  ['CERT_HAS_EXPIRED', 'tls', /ipa-getcert resubmit/],
  ['CERT_NOT_YET_VALID', 'tls', /chronyc makestep/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', /-connect ipa.example.test:636 /],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls', /set the\.caFile/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', /openssl s_client/],
])('explains %s', (code, step, fix) => {
  const error = new Error('outer', {
    cause: Object.assign(new Error('inner'), { code }),
  });
  const explained = explainConnectionError(error, {
    url: 'ldaps://ipa.example.test',
    urlKey: 'the.servers',
    caKey: 'the.caFile',
  });
  expect(explained.step).toBe(step);
  expect(explained.finding.fix?.join()).toMatch(fix);
});

it.each(['ENOTFOUND', 'ECONNREFUSED', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
  'does not copy a name that DNS returned into a command (%s)',
  code => {
    const error = Object.assign(new Error('failed'), { code });
    const { fix } = explainConnectionError(error, {
      url: 'ldaps://a$(id);`id`.example.test',
      urlKey: 'the.servers',
      caKey: 'the.caFile',
    }).finding;
    expect(fix?.join()).toContain('HOST');
    expect(fix?.join()).not.toContain('id');
  },
);

describe('Portal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portal-'));
    await mkdir(join(folder, 'packages/backend/src'), { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const load = async (config: object, entry = '') => {
    const file = join(folder, 'app-config.json');
    const backend = join(folder, 'packages/backend');
    await writeFile(file, JSON.stringify(config));
    await writeFile(join(backend, 'src/index.ts'), entry);
    await writeFile(
      join(backend, 'package.json'),
      JSON.stringify({
        dependencies: {
          '@directory-gateway/backstage-plugin-directory-backend': '*',
          'some-module': '*',
        },
      }),
    );
    return await Portal.load({
      configFiles: [file],
      env: {},
      folder,
      responseMs: 2500,
    });
  };

  it.each([
    ["backend.add(import('some-module'));", true],
    ['backend.add(import("some-module"));', true],
    ["// backend.add(import('some-module'));", false],
    ["/* backend.add(import('some-module')); */", false],
    ["backend.add(import('other-module'));", false],
    ['backend.add(discoveryFeatureLoader);', true],
  ])('finds the packages of a backend with %s', async (entry, expected) => {
    const portal = await load({}, entry);
    expect(portal.hasPackage('some-module')).toBe(expected);
    expect(portal.hasPackage('other-module')).toBe(false);
  });

  it('redacts secrets of the configuration, but not names of files', async () => {
    const portal = await load({
      directory: {
        ldap: { bindPassword: 'hunter22', bindPasswordFile: '/etc/portal/pw' },
        sessions: { keys: [{ secret: 'abcdefgh' }] },
      },
    });
    expect(portal.redact('hunter22 abcdefgh /etc/portal/pw')).toBe(
      '*** *** /etc/portal/pw',
    );
  });

  it('redacts numbers and the passwords in URLs', async () => {
    const portal = await load({
      backend: {
        database: { connection: 'postgresql://portal:hunter22@db.test/portal' },
        cache: { connection: { pwd: 12345678 } },
      },
    });
    expect(
      portal.redact('hunter22 12345678 ldaps://portal:other@ipa.test:636'),
    ).toBe('*** *** ldaps://***@ipa.test:636');
  });

  it.each([
    ['a colon in a value', 'password: S3cret: Hunter2', /line 1, column \d+/],
    ['an at sign', 'a:\n  bindPassword: @S3cretHunter2', /line 2, column \d+/],
    ['a percent sign', 'bindPassword: %S3cretHunter2', /line 1, column \d+/],
    ['an alias', 'bindPassword: *S3cretHunter2', /not valid/],
    ['capital letters', 'bindPassword: @ESECRETHUNTER', /not valid/],
    ['a tab', 'a:\n\tsecret: S3cretHunter2', /line 2, column \d+/],
    ['invalid JSON', 'a: { $include: "part.json#a" }', /^part\.json \(a\)/],
    ['invalid YAML', 'a: { $include: "part.yaml#a" }', /^part\.yaml \(a\)/],
    [
      'a missing file',
      'a: { $file: missing }',
      /^missing \(a\) .* does not exist/,
    ],
  ])('reports %s without its value', async (_name, text, expected) => {
    const file = join(folder, 'app-config.yaml');
    await writeFile(file, text);
    await writeFile(join(folder, 'part.json'), '{ "a": S3cretHunter2 }');
    await writeFile(join(folder, 'part.yaml'), 'a: b: S3cretHunter2');
    const portal = await Portal.load({
      configFiles: [file],
      env: {},
      folder,
      responseMs: 2500,
    });
    const { status, message } = await configurationCheck(portal).run(portal);
    expect(status).toBe('fail');
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/S[3E]CRET|HUNTER/i);
  });

  it('reports a file that cannot be read', async () => {
    const portal = await Portal.load({
      responseMs: 2500,
      configFiles: [join(folder, 'missing.yaml')],
      env: {},
      folder,
    });
    const { status, message } = await configurationCheck(portal).run(portal);
    expect(status).toBe('fail');
    expect(message).toContain('missing.yaml');
  });

  it('names the service that clients with reverse lookups request', async () => {
    const addresses = [{ address: '192.0.2.1', family: 4 }];
    jest.spyOn(dns, 'lookup').mockResolvedValue(addresses as never);
    jest.spyOn(dns, 'lookupService').mockResolvedValue({
      hostname: 'Web1.example.test',
      service: '0',
    });
    try {
      const portal = await load({
        backend: { baseUrl: 'https://portal.example.test' },
      });
      const hostName = kerberosChecks(portal).find(
        ({ id }) => id === 'host-name',
      );
      expect(await hostName!.run(portal)).toMatchObject({
        status: 'ok',
        message: expect.stringContaining('request HTTP/web1.example.test'),
      });
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('has the checks that docs/doctor.md describes', async () => {
    const portal = await Portal.load({
      responseMs: 2500,
      configFiles: [],
      env: {},
      folder: REPOSITORY,
    });
    const ids = allChecks(portal).map(({ id }) => id);
    const page = await readFile(join(REPOSITORY, 'docs/doctor.md'), 'utf8');
    const [, table] = page.split('## Checks');
    const documented = [...table.matchAll(/^\| `([a-z0-9-]+)`/gm)].map(
      ([, id]) => id,
    );
    expect([...documented].sort()).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
