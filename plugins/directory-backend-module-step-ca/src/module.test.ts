import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { JsonObject } from '@backstage/types';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  type CertificateAuthority,
  type DirectoryCertificateAuthoritiesExtensionPoint,
} from '@directory-gateway/backstage-plugin-directory-node';
import { chmod } from 'node:fs/promises';
import directoryModuleStepCa from '.';
import { FakeStepCa } from './__testUtils__/FakeStepCa';
import { StepCaAuthority } from './StepCaAuthority';

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

/** Starts the module and returns the registered CAs. */
async function register(
  certificates: JsonObject,
): Promise<Map<string, CertificateAuthority>> {
  const authorities = new Map<string, CertificateAuthority>();
  const extensionPoint: Pick<
    DirectoryCertificateAuthoritiesExtensionPoint,
    'addAuthority'
  > = {
    addAuthority: (name, authority) => void authorities.set(name, authority),
  };
  const backend = await startTestBackend({
    extensionPoints: [
      [
        directoryCertificateAuthoritiesExtensionPoint,
        extensionPoint as DirectoryCertificateAuthoritiesExtensionPoint,
      ],
    ],
    features: [
      directoryModuleStepCa,
      mockServices.rootConfig.factory({
        data: { directory: { certificates } },
      }),
    ],
  });
  await backend.stop();
  return authorities;
}

const settings = () => ({
  url: fake.url,
  rootFile: fake.files.rootFile,
  provisionerKeyFile: fake.files.provisionerKeyFile,
});

describe('directoryModuleStepCa', () => {
  it('registers step-ca when it is configured', async () => {
    const authorities = await register({ stepCa: settings() });
    expect([...authorities.keys()]).toEqual(['step-ca']);
    expect(authorities.get('step-ca')).toBeInstanceOf(StepCaAuthority);
    expect(fake.requests).toEqual(['GET /provisioners?limit=100']);
  });

  it('registers nothing when step-ca is not configured', async () => {
    expect((await register({})).size).toBe(0);
  });

  it('starts while step-ca is down', async () => {
    await fake.pause();
    try {
      expect((await register({ stepCa: settings() })).size).toBe(1);
    } finally {
      await fake.resume();
    }
  });

  it('prevents the backend from starting with an unsafe provisioner', async () => {
    fake.provisioner.claims.disableRenewal = false;
    await expect(register({ stepCa: settings() })).rejects.toThrow(
      'claims.disableRenewal must be true',
    );
  });

  it('prevents the backend from starting when other users can read the key', async () => {
    await chmod(fake.files.provisionerKeyFile, 0o644);
    await expect(register({ stepCa: settings() })).rejects.toThrow(
      'directory.certificates.stepCa.provisionerKeyFile: ',
    );
  });
});
