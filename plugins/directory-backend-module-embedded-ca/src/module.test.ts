import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
import { TestRoot } from './__testUtils__/TestHierarchy';
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
    ['organization', { socket: '/x' }],
    ['issuers', { organization: 'X' }],
    ['socket', { organization: 'X', socket: 'relative.sock' }],
  ])('does not start when %s is invalid', async (key, embedded) => {
    await expect(startPortal({ embedded })).rejects.toThrow(
      `directory.certificates.embedded.${key}`,
    );
  });

  it('publishes certificates and CRLs from the start, and signs', async () => {
    const root = await TestRoot.create(folder);
    const { id, files, certificate: issuer } = await root.createIntermediate();
    const logFolder = join(folder, 'log');
    await mkdir(logFolder, { mode: 0o700 });
    const certificateFile = join(folder, 'root.pem');
    const crlFile = join(folder, 'root.crl');
    await writeFile(certificateFile, root.pem);
    await writeFile(crlFile, await root.signRevocationList());
    const { chainFile, keyFile } = files;
    const portal = await startPortal({
      embedded: {
        organization: 'EXAMPLE.TEST',
        issuers: [{ chainFile, keyFile }],
        logFolder,
        roots: [{ certificateFile, crlFile }],
      },
    });
    const read = async (kind: 'crl' | 'certificate', name: string) => {
      const document = portal.documents.get(`/ca/:issuer/${kind}`)!;
      return await document.read(name);
    };
    const name = id.slice(0, 16);
    expect(await read('certificate', name)).toEqual(issuer);
    expect(await readRevocationList((await read('crl', name))!)).toMatchObject({
      number: 1,
      entries: [],
    });
    expect(await read('certificate', root.urlName)).toEqual(root.certificate);
    expect(
      await readRevocationList((await read('crl', root.urlName))!),
    ).toMatchObject({ number: 1, entries: [] });
    for (const unknown of ['', '0'.repeat(16), id]) {
      expect(await read('certificate', unknown)).toBeUndefined();
      expect(await read('crl', unknown)).toBeUndefined();
    }
    expect(portal.documents.get('/ca/:issuer/crl')?.contentType).toBe(
      'application/pkix-crl',
    );
    const authority = portal.authorities.get('embedded')!;
    const issued = await authority.sign(aliceRequest());
    const result = issued.certificate.description;
    expect(result.ok && result.certificate.crlDistributionPoints).toEqual([
      expect.stringMatching(
        new RegExp(`^http://localhost:\\d+/api/directory/ca/${name}/crl$`),
      ),
    ]);
    await portal.backend.stop();
  });
});
