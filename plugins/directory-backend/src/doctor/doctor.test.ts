import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import {
  type DoctorCheck,
  type DoctorContext,
  finding,
} from '@directory-gateway/backstage-plugin-directory-node';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { directoryChecks, type Probe } from './directoryChecks';
import { allChecks, diagnose } from './main';
import { loadPortal } from './Portal';
import { portalChecks } from './portalChecks';
import { formatResults, runChecks } from './runChecks';

const REPOSITORY = resolve(__dirname, '../../../..');
const ALLOW_ALL =
  '@backstage/plugin-permission-backend-module-allow-all-policy';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portal-'));
  await mkdir(join(folder, 'packages/backend/src'), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const LDAP = {
  servers: ['ldaps://ipa1.example.test'],
  baseDn: 'dc=example,dc=test',
  bindDn: 'uid=portal',
  bindPassword: 'hunter22',
};

/** Writes a portal, and returns options for {@link loadPortal}. */
async function write(config: JsonObject | string, entry = '') {
  const file = join(folder, 'app-config.yaml');
  const backend = join(folder, 'packages/backend');
  const dependencies = {
    '@directory-gateway/backstage-plugin-directory-backend': '*',
    [ALLOW_ALL]: '*',
  };
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  await writeFile(file, text);
  await writeFile(join(backend, 'src/index.ts'), entry);
  await writeFile(
    join(backend, 'package.json'),
    JSON.stringify({ dependencies }),
  );
  return { configFiles: [file], deadlineMs: 60_000, env: {}, folder };
}

/** Loads a portal with a healthy directory. */
async function load(
  changes: JsonObject = {},
  options: { readonly entry?: string; readonly folder?: string } = {},
) {
  const backend = { baseUrl: 'http://localhost:9' };
  const config = { backend, directory: { ldap: LDAP }, ...changes };
  const written = await write(config, options.entry);
  return await loadPortal({ ...written, folder, ...options });
}

describe('runChecks', () => {
  const context: DoctorContext = {
    config: new ConfigReader({}),
    env: {},
    responseMs: 1000,
  };
  const check = (
    id: string,
    run: DoctorCheck['run'],
    ...after: readonly string[]
  ): DoctorCheck => ({ id, after, run });

  it('skips checks that depend on a failed one, directly or not', async () => {
    const run = jest.fn(async () => finding.ok('fine'));
    const results = await runChecks(
      [
        check('first', async () => finding.fail('broken', 'repair it')),
        check('middle', run, 'first'),
        check('last', run, 'middle'),
        check('warned', async () => finding.warn('old', 'renew it')),
        check('absent', async () => finding.skip('not configured')),
        check('other', run, 'warned', 'absent', 'unknown'),
      ],
      context,
      { deadlineMs: 60_000 },
    );
    expect(
      results.map(({ id, status, message }) => [id, status, message]),
    ).toEqual([
      ['first', 'fail', 'broken'],
      ['middle', 'skip', 'first failed'],
      ['last', 'skip', 'first failed'],
      ['warned', 'warn', 'old'],
      ['absent', 'skip', 'not configured'],
      ['other', 'ok', 'fine'],
    ]);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('fails a check that throws or does not end, and replaces control characters', async () => {
    const results = await runChecks(
      [
        check('throws', async () => {
          throw new Error('\x1b]0;title\x07\r\x1b[2Kok\nfix:\u202e rm');
        }),
        check('hangs', () => new Promise(() => {})),
      ],
      context,
      { deadlineMs: 100 },
    );
    expect(results.map(({ status, message }) => [status, message])).toEqual([
      ['fail', ' ]0;title [2Kok fix:  rm'],
      ['fail', 'No result within 0.1 seconds'],
    ]);
    expect(results[1].fix).toContain('--timeout 30');
  });
});

it('formats a line for each check and each fix', () => {
  expect(
    formatResults([
      { id: 'one', ...finding.ok('fine') },
      { id: 'longer', ...finding.fail('broken', 'repair it') },
      { id: 'two', ...finding.warn('old', 'renew it') },
    ]),
  ).toBe(`ok    one     fine
FAIL  longer  broken
      fix: repair it
warn  two     old
      fix: renew it

1 ok, 1 warn, 1 fail, 0 skip
`);
});

describe('the configuration', () => {
  it.each([
    ['a colon', 'password: S3cret: Hunter2', /, line 1, column \d+: not valid/],
    ['an at sign', 'a:\n  b: @S3cretHunter2', /, line 2, column \d+: not/],
    ['an alias', 'password: *S3cretHunter2', /: not valid YAML/],
    ['capital letters', 'password: @ESECRETHUNTER', /: not valid YAML/],
    ['invalid JSON', 'a: { $include: "part.json#a" }', /, a: not valid YAML/],
    ['a missing file', 'a: { $file: missing }', /, a: does not exist/],
    ['no base URL', 'a: b', /backend\.baseUrl/],
  ])('reports %s without its value', async (_name, text, expected) => {
    const options = await write(text);
    await writeFile(join(folder, 'part.json'), '{ "a": S3cretHunter2 }');
    const [{ id, status, message }, ...others] = await diagnose(options);
    expect([id, status]).toEqual(['configuration', 'fail']);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/S[3E]CRET|HUNTER/i);
    expect(others).toEqual([]);
  });
});

describe('the portal', () => {
  const decide = async (id: string, config: JsonObject, entry?: string) => {
    const portal = await load(config, { entry });
    const { run } = portalChecks(portal).find(check => check.id === id)!;
    return await run(portal).then(
      ({ status, message, fix }) => `${status} ${message}; ${fix}`,
      (error: Error) => `fail ${error.message}`,
    );
  };

  it.each([
    ['http://portal.example.test', /^fail backend.baseUrl must be an https/],
    ['http://127.0.0.1:9', /^fail .*set backend.baseUrl to the host name/],
    ['http://localhost:9', /^skip .*ECONNREFUSED.*start the portal first/],
  ])('decides about the base URL %s', async (baseUrl, expected) => {
    const config = { backend: { baseUrl } };
    expect(await decide('base-url', config)).toMatch(expected);
  });

  it.each([
    [{}, /^fail permission\.enabled is not true/],
    [{ enabled: true }, /^ok /],
    [
      { enabled: true, directory: { dangerouslyAllowGuests: true } },
      /^warn Guests .*remove permission\.directory\.dangerouslyAllowGuests/,
    ],
  ])('decides about the permissions %j', async (permission, expected) => {
    expect(await decide('permissions', { permission })).toMatch(expected);
  });

  it.each([
    [`backend.add(import('${ALLOW_ALL}'));`, /^fail .*remove backend\.add/],
    [`// backend.add(import('${ALLOW_ALL}'));`, /^ok /],
    [`/* backend.add(import("${ALLOW_ALL}")); */`, /^ok /],
    ['backend.add(discoveryFeatureLoader);', /^fail .*remove backend\.add/],
  ])('decides about a backend with %s', async (entry, expected) => {
    const config = { permission: { enabled: true } };
    expect(await decide('permissions', config, entry)).toMatch(expected);
  });

  it.each([
    [':memory:', /^warn .*client: pg/],
    ['/nonexistent/a.sqlite', /^ok The backend creates the database/],
    [{ directory: '/nonexistent' }, /^ok The backend creates the database/],
  ])('decides about the database %j', async (connection, expected) => {
    const database = { client: 'better-sqlite3', connection };
    const backend = { baseUrl: 'http://localhost:9', database };
    expect(await decide('database', { backend })).toMatch(expected);
  });
});

describe('the directory', () => {
  const healthy: Probe = {
    bind: async () => [{ url: 'ldaps://ipa1.example.test', isRefused: false }],
    hasUsers: async () => true,
    suffixes: async () => [],
    missingNames: async () => [],
    missingRights: async () => [{ kind: 'users', attributes: [] }],
    unreadableFields: async () => [{ kind: 'users', attributes: [] }],
    hasPositions: async () => true,
  };
  const statuses = async (probe: Partial<Probe>) => {
    const portal = await load();
    const checks = directoryChecks(portal, { ...healthy, ...probe });
    const results = await runChecks(checks, portal, { deadlineMs: 60_000 });
    return results.map(({ status }) => status).join(' ');
  };
  const users = async () => [{ kind: 'users', attributes: ['a'] }] as const;

  const stopped = { url: 'ldaps://ipa2', error: new Error(), isRefused: false };
  const one = async () => [await healthy.bind(), stopped].flat();

  it.each<[string, string, Partial<Probe>]>([
    ['ok ok ok ok', 'a healthy directory', {}],
    ['warn ok ok ok', 'one of two servers', { bind: one }],
    ['fail skip skip skip', 'no server', { bind: async () => [stopped] }],
    ['ok fail skip skip', 'another base DN', { hasUsers: async () => false }],
    ['ok ok fail skip', 'a schema', { missingNames: async () => ['fasUser'] }],
    ['ok ok fail skip', 'missing rights', { missingRights: users }],
    ['ok ok warn ok', 'unreadable fields', { unreadableFields: users }],
    ['ok ok ok warn', 'no USNs', { hasPositions: async () => false }],
  ])('decides %s for %s', async (expected, _name, probe) => {
    expect(await statuses(probe)).toBe(expected);
  });
});

it('has the checks that docs/doctor.md describes', async () => {
  const checks = allChecks(await load({}, { folder: REPOSITORY }));
  const ids = ['configuration', ...checks.map(({ id }) => id)];
  const page = await readFile(join(REPOSITORY, 'docs/doctor.md'), 'utf8');
  const [, table] = page.split('## Checks');
  const documented = [...table.matchAll(/^\| `([a-z0-9-]+)`/gm)];
  expect(documented.map(([, id]) => id).sort()).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});
