import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CA_ACLS,
  GATEWAY_PERMISSIONS,
} from './__testUtils__/certificateCommands';
import { FakeCa } from './__testUtils__/FakeCa';
import { FakeHttpsServer } from './__testUtils__/FakeHttpsServer';
import { newRequest } from './__testUtils__/newRequest';
import { doctorChecks } from './doctor';

let ca: FakeCa;
let server: FakeHttpsServer;
let folder: string;
let passwordFile: string;

beforeAll(async () => {
  ca = await FakeCa.create();
  await ca.issue({ csr: newRequest().csr, username: 'alice' });
  server = await FakeHttpsServer.start({ ca, version: '4.9' });
  folder = await mkdtemp(join(tmpdir(), 'freeipa-doctor-'));
  passwordFile = join(folder, 'password');
});
beforeEach(async () => {
  await writeFile(passwordFile, server.freeIpa.password);
  await chmod(passwordFile, 0o600);
  server.freeIpa.permissions = GATEWAY_PERMISSIONS;
  server.freeIpa.rules = CA_ACLS;
  server.freeIpa.isDogtagDown = false;
});
afterAll(async () => {
  await server?.stop();
  await ca?.remove();
  await rm(folder, { recursive: true });
});

/** Returns the result of the check, on one line. */
async function decide(freeipa: JsonObject = {}, profile = 'userCerts') {
  const servers = [server.origin];
  const login = { username: 'portal', passwordFile };
  const config = new ConfigReader({
    directory: {
      certificates: {
        profiles: [{ name: profile }],
        freeipa: { servers, caFile: ca.caFile, login, ...freeipa },
      },
    },
  });
  const context = { config, env: {}, responseMs: 3000 };
  return await doctorChecks[0].run(context).then(
    ({ status, message, fix }) => `${status} ${message}; ${fix}`,
    (error: Error) => `fail ${error.message}`,
  );
}

it('accepts FreeIPA as docs/freeipa.md sets it up', async () => {
  expect(await decide()).toMatch(/^ok portal at /);
});

it('accepts an account with permissions of other names', async () => {
  const change = { memberof: undefined };
  server.freeIpa.failNext('user_show', { kind: 'change', change });
  expect(await decide()).toMatch(/^ok /);
});

it('warns when one of several servers cannot be used', async () => {
  const servers = [server.origin, 'https://localhost:9'];
  expect(await decide({ servers })).toMatch(
    /^warn localhost:9: it does not accept/,
  );
});

it.each<[string, RegExp, () => unknown]>([
  [
    'a password file that other users can read',
    /^fail .*login\.passwordFile: .* is accessible to other users/,
    () => chmod(passwordFile, 0o644),
  ],
  [
    'a wrong password',
    /^fail .*invalid-password; try the password: kinit portal/,
    () => writeFile(passwordFile, 'a wrong password'),
  ],
  [
    'a server that hangs',
    /^fail FreeIPA or its CA does not respond.*ipactl status/,
    () => server.freeIpa.failNext('login', { kind: 'hang', executed: false }),
  ],
  [
    'a stopped CA',
    /^fail FreeIPA or its CA does not respond: .*4016.*ipactl status/,
    () => {
      server.freeIpa.isDogtagDown = true;
    },
  ],
  [
    'a CA that hangs',
    /^fail FreeIPA or its CA does not respond.*ipactl status/,
    () =>
      server.freeIpa.failNext('cert_show', { kind: 'hang', executed: false }),
  ],
  [
    'an account without the role',
    /^fail portal lacks .*: Request Certificate, Retrieve Certificates from the CA, System: Manage User Certificates; ipa role-add-member/,
    () => {
      server.freeIpa.permissions = [];
    },
  ],
  ...GATEWAY_PERMISSIONS.map(
    name =>
      [
        `an account without "${name}"`,
        name === 'Revoke Certificate'
          ? /^warn portal lacks .* "Revoke Certificate": revocations get 503/
          : new RegExp(`^fail portal lacks .* certificates: ${name}; ipa role`),
        () => {
          server.freeIpa.permissions = GATEWAY_PERMISSIONS.filter(
            each => each !== name,
          );
        },
      ] as [string, RegExp, () => unknown],
  ),
  [
    'a disabled CA ACL',
    /^fail No enabled CA ACL .* profile userCerts from the CA ipa; ipa caacl/,
    () => {
      const [own, users] = CA_ACLS;
      server.freeIpa.rules = [own, { ...users, ipaenabledflag: ['FALSE'] }];
    },
  ],
])('reports %s', async (_name, expected, apply) => {
  await apply();
  const result = await decide();
  expect(result).toMatch(expected);
  expect(result).not.toContain('a wrong password');
});

it('reports a profile and a CA that FreeIPA does not have', async () => {
  expect(await decide({}, 'usrCerts')).toMatch(
    /^fail .*ipa certprofile-import usrCerts/,
  );
  expect(await decide({ cacn: 'sub' })).toMatch(/^fail .*ipa ca-find/);
});
