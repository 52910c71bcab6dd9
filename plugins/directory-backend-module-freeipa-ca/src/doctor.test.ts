import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeCa } from './__testUtils__/FakeCa';
import { FakeHttpsServer } from './__testUtils__/FakeHttpsServer';
import { doctorChecks } from './doctor';

let ca: FakeCa;
let server: FakeHttpsServer;
let folder: string;
let passwordFile: string;

beforeAll(async () => {
  ca = await FakeCa.create();
  server = await FakeHttpsServer.start({ ca });
  folder = await mkdtemp(join(tmpdir(), 'freeipa-doctor-'));
});
beforeEach(async () => {
  passwordFile = join(folder, 'password');
  await writeFile(passwordFile, server.freeIpa.password, { mode: 0o600 });
});
afterAll(async () => {
  await server?.stop();
  await ca?.remove();
  await rm(folder, { recursive: true });
});

/** Runs the checks sequentially until one fails. */
async function findProblem(
  freeipa: JsonObject = {},
  profiles: JsonObject[] = [{ name: 'userCerts' }],
) {
  const config = new ConfigReader({
    directory: {
      certificates: {
        profiles,
        freeipa: {
          servers: [server.origin],
          caFile: ca.caFile,
          login: { username: 'portal', passwordFile },
          ...freeipa,
        },
      },
    },
  });
  for (const check of doctorChecks) {
    const { status, message, fix } = await check.run({
      config,
      env: {},
      hasPackage: () => true,
      database: async () => undefined,
    });
    if (status !== 'ok') {
      return { id: check.id, status, message, fix };
    }
  }
  return undefined;
}

it('passes all checks when the CA works', async () => {
  expect(await findProblem()).toBeUndefined();
});

it('logs in once to check the CA and all profiles', async () => {
  const { log } = server.freeIpa;
  const profiles = ['userCerts', 'otherCerts'].map(name => ({ name }));
  log.length = 0;
  expect(await findProblem({}, profiles)).toBeUndefined();
  expect(log.slice(log.indexOf('ca_show') - 1)).toEqual([
    'login',
    'ca_show',
    'certprofile_show',
    'certprofile_show',
  ]);
});

it.each([
  [
    'a CA file that does not exist',
    'freeipa-ca-config',
    /\/etc\/ipa\/ca\.crt/,
    () => findProblem({ caFile: '/nonexistent/ca.crt' }),
  ],
  [
    'a password file that does not exist',
    'freeipa-ca-config',
    /chmod 600/,
    () =>
      findProblem({
        login: { username: 'portal', passwordFile: '/nonexistent/password' },
      }),
  ],
  [
    'a password file that other users can read',
    'freeipa-ca-config',
    /chmod 600/,
    async () => {
      await chmod(passwordFile, 0o644);
      return await findProblem().finally(() => chmod(passwordFile, 0o600));
    },
  ],
  [
    'the CA file of another CA',
    'freeipa-ca-login',
    /directory\.certificates\.freeipa\.caFile to the CA of localhost/,
    async () => {
      const other = await FakeCa.create();
      return await findProblem({ caFile: other.caFile }).finally(() =>
        other.remove(),
      );
    },
  ],
  [
    'a stopped server',
    'freeipa-ca-login',
    /ipactl start/,
    async () => {
      await server.stop();
      return await findProblem().finally(() => server.listen());
    },
  ],
  [
    'a wrong password',
    'freeipa-ca-login',
    /ipa passwd portal/,
    async () => {
      await writeFile(passwordFile, 'a wrong password');
      return await findProblem();
    },
  ],
  [
    'a server that does not respond',
    'freeipa-ca-login',
    /^(?!.*getkeytab|.*passwd).*ipactl status/,
    () => {
      server.freeIpa.failNext('login', { kind: 'hang', executed: false });
      return findProblem();
    },
  ],
  [
    'a stopped CA',
    'freeipa-ca-profile',
    /ipactl status/,
    async () => {
      server.freeIpa.isDogtagDown = true;
      return await findProblem().finally(() => {
        server.freeIpa.isDogtagDown = false;
      });
    },
  ],
  [
    'a CA that does not respond',
    'freeipa-ca-profile',
    /ipactl status/,
    () => {
      server.freeIpa.failNext('ca_show', { kind: 'hang', executed: false });
      return findProblem();
    },
  ],
  [
    'a CA that FreeIPA does not have',
    'freeipa-ca-profile',
    /ipa ca-find/,
    () => findProblem({ cacn: 'sub' }),
  ],
  [
    'a profile that FreeIPA does not have',
    'freeipa-ca-profile',
    /ipa certprofile-import usrCerts/,
    () => findProblem({}, [{ name: 'userCerts' }, { name: 'usrCerts' }]),
  ],
])('reports %s (%s)', async (_name, id, fix, find) => {
  const problem = await find();
  expect(problem).toMatchObject({ id, status: 'fail' });
  expect(problem?.fix?.join()).toMatch(fix);
  expect(JSON.stringify(problem)).not.toContain('a wrong password');
});
