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

/** Runs the checks sequentially until one is not ok. */
async function findProblem(stepCa: JsonObject | undefined = {}, server = fake) {
  const config = new ConfigReader({
    directory: {
      certificates: {
        stepCa: stepCa && {
          url: server.url,
          rootFile: server.files.rootFile,
          provisionerKeyFile: server.files.provisionerKeyFile,
          ...stepCa,
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
      return `${check.id} ${status}: ${message}: ${fix?.join(', ')}`;
    }
  }
  return undefined;
}

describe('the checks of the doctor', () => {
  it('find no problem with the documented provisioner', async () => {
    expect(await findProblem()).toBeUndefined();
  });

  it('find a server that does not respond', async () => {
    await fake.pause();
    try {
      expect(await findProblem()).toMatch(
        /^step-ca fail: .*ECONNREFUSED.*curl --cacert/,
      );
    } finally {
      await fake.resume();
    }
  });

  it('find a server with another root', async () => {
    const other = await StepCaFiles.create();
    try {
      expect(await findProblem({ rootFile: other.rootFile })).toMatch(
        /^step-ca fail: .*rootFile/,
      );
    } finally {
      await other.remove();
    }
  });

  it('warn before the issuer expires', async () => {
    const short = await FakeStepCa.start({ days: 89 });
    try {
      expect(await findProblem({}, short)).toMatch(
        /^step-ca warn: The issuing certificate of step-ca expires on /,
      );
    } finally {
      await short.stop();
    }
  });

  it('find an unsafe provisioner', async () => {
    fake.provisioner.claims.enableSSHCA = true;
    expect(await findProblem()).toMatch(
      /^step-ca fail: The provisioner in step-ca is not safe: claims.enableSSHCA must be false.*ca\.json/,
    );
  });

  it('find a key that other users can read', async () => {
    await chmod(fake.files.provisionerKeyFile, 0o644);
    expect(await findProblem()).toMatch(
      /^step-ca fail: .*accessible to other users.*chmod 600/,
    );
  });

  it('are skipped when step-ca is not configured', async () => {
    const config = new ConfigReader({});
    for (const check of doctorChecks) {
      expect(
        await check.run({
          config,
          env: {},
          hasPackage: () => true,
          database: async () => undefined,
        }),
      ).toMatchObject({ status: 'skip' });
    }
  });
});
