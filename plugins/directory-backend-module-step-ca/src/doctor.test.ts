import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { chmod } from 'node:fs/promises';
import { FakeStepCa } from './__testUtils__/FakeStepCa';
import { StepCaFiles } from './__testUtils__/StepCaFiles';
import { doctorChecks } from './doctor';

/** Long, for OpenSSL's processes on a busy machine. */
jest.setTimeout(180_000);

let fake: FakeStepCa;

beforeAll(async () => {
  fake = await FakeStepCa.start();
});

beforeEach(async () => {
  await fake.reset();
});

afterAll(async () => {
  await fake?.stop();
});

/** Returns the result of the check, on one line. */
async function decide(changes: JsonObject = {}, { files, url } = fake) {
  const { rootFile, provisionerKeyFile } = files;
  const stepCa = { url, rootFile, provisionerKeyFile, ...changes };
  const { status, message, fix } = await doctorChecks[0].run({
    config: new ConfigReader({ directory: { certificates: { stepCa } } }),
    env: {},
    responseMs: 30_000,
  });
  return `${status} ${message}; ${fix}`;
}

it('accepts the documented provisioner', async () => {
  expect(await decide()).toMatch(/^ok /);
});

it('reports a server that does not respond', async () => {
  await fake.pause();
  try {
    expect(await decide()).toMatch(/^fail .*ECONNREFUSED.*start step-ca/);
  } finally {
    await fake.resume();
  }
});

it('reports a server with another root', async () => {
  const other = await StepCaFiles.create();
  const { rootFile } = other;
  expect(await decide({ rootFile })).toMatch(/^fail .*correct url, rootFile/);
  await other.remove();
});

it('warns before the issuer expires', async () => {
  const short = await FakeStepCa.start({ days: 89 });
  try {
    expect(await decide({}, short)).toMatch(
      /^warn The issuing certificate of step-ca expires on /,
    );
  } finally {
    await short.stop();
  }
});

it('reports an unsafe provisioner', async () => {
  fake.provisioner.claims.enableSSHCA = true;
  expect(await decide()).toMatch(
    /^fail .*claims\.enableSSHCA must be false.*ca\.json/,
  );
});

it('reports a key that other users can read', async () => {
  await chmod(fake.files.provisionerKeyFile, 0o644);
  expect(await decide()).toMatch(/^fail .*accessible to other users.*mode 600/);
});
