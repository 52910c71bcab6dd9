import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { JsonObject } from '@backstage/types';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  type CertificateAuthority,
  type PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readRevocationList } from './__testUtils__/readRevocationList';
import { aliceRequest } from './__testUtils__/requests';
import { directoryModuleEmbeddedCa } from './module';

describe('directoryModuleEmbeddedCa', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function startPortal(options: { readonly embedded?: JsonObject }) {
    const authorities = new Map<string, CertificateAuthority>();
    const documents = new Map<string, PublicDocument>();
    const backend = await startTestBackend({
      extensionPoints: [
        [
          directoryCertificateAuthoritiesExtensionPoint,
          {
            addAuthority: (name, authority) => authorities.set(name, authority),
          },
        ],
        [
          directoryPublicDocumentsExtensionPoint,
          {
            addPublicDocument: document =>
              documents.set(document.path, document),
          },
        ],
      ],
      features: [
        directoryModuleEmbeddedCa,
        mockServices.rootConfig.factory({
          data: {
            backend: { baseUrl: 'http://localhost:7007' },
            directory: { certificates: { embedded: options.embedded } },
          },
        }),
      ],
    });
    return { backend, authorities, documents };
  }

  it('registers nothing when it is not configured', async () => {
    const portal = await startPortal({});
    expect([...portal.authorities, ...portal.documents]).toEqual([]);
    await portal.backend.stop();
  });

  it.each([
    ['organization', { keyFile: '/x' }],
    ['keyFile', { organization: 'X' }],
    ['keyFile', { organization: 'X', keyFile: 'relative.pem' }],
  ])('does not start when %s is invalid', async (key, embedded) => {
    await expect(startPortal({ embedded })).rejects.toThrow(
      `directory.certificates.embedded.${key}`,
    );
  });

  describe('with a configuration', () => {
    let portal: Awaited<ReturnType<typeof startPortal>>;
    let authority: CertificateAuthority;

    beforeAll(async () => {
      const keyFile = join(folder, 'ca-key.pem');
      portal = await startPortal({
        embedded: { organization: 'EXAMPLE.TEST', keyFile },
      });
      authority = portal.authorities.get('embedded')!;
      await stat(keyFile);
    });

    afterAll(async () => {
      await portal?.backend.stop();
    });

    const readList = async () =>
      readRevocationList(await portal.documents.get('/ca/crl')!.read());

    it('publishes the CRL from the start', async () => {
      expect(portal.documents.get('/ca/crl')?.contentType).toBe(
        'application/pkix-crl',
      );
      expect(await readList()).toMatchObject({ number: 1, serialNumbers: [] });
      const { certificate } = await authority.sign(aliceRequest());
      expect(certificate.der.toString('latin1')).toMatch(
        /http:\/\/localhost:\d+\/api\/directory\/ca\/crl/,
      );
    });
  });
});
