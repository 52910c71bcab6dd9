import { mockServices, startTestBackend } from '@backstage/backend-test-utils';
import type { JsonObject } from '@backstage/types';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  type CertificateAuthority,
  type PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  aliceRequest,
  openssl,
  readCrl,
  runProgram,
  TestCa,
} from './__testUtils__/TestCa';
import { directoryModuleEmbeddedCa, migrateDatabase } from './module';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

describe('directoryModuleEmbeddedCa', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start();
  });

  afterEach(async () => {
    await ca.stop();
  });

  async function startPortal(embedded: JsonObject | undefined) {
    const authorities = new Map<string, CertificateAuthority>();
    const documents = new Map<string, PublicDocument>();
    const logger = mockServices.logger.mock();
    logger.child.mockReturnValue(logger);
    const backend = await startTestBackend({
      extensionPoints: [
        [
          directoryCertificateAuthoritiesExtensionPoint,
          {
            recordsOf: () => ca.records,
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
        logger.factory,
        mockServices.rootConfig.factory({
          data: {
            backend: { baseUrl: 'http://localhost:7007' },
            directory: { certificates: { embedded } },
          },
        }),
      ],
    });
    const warnings = () => logger.warn.mock.calls.map(([message]) => message);
    return { backend, authorities, documents, warnings };
  }

  const block = () => ({
    organization: 'EXAMPLE.TEST',
    issuers: [ca.files()],
  });

  it('registers nothing when it is not configured', async () => {
    const portal = await startPortal(undefined);
    expect([...portal.authorities, ...portal.documents]).toEqual([]);
    await portal.backend.stop();
  });

  it('does not start with an invalid key', async () => {
    await expect(
      startPortal({ organization: 'X', socket: '/ca.sock' }),
    ).rejects.toThrow('directory.certificates.embedded.socket');
  });

  it('signs, and publishes the documents of issuers and roots', async () => {
    runProgram('root-crl', '--folder', ca.folder);
    const portal = await startPortal({
      ...block(),
      logFolder: '/var/lib/portal/ca-log',
      roots: [
        {
          certificateFile: ca.path('root.pem'),
          crlFile: ca.path('root-crl-1.pem'),
        },
      ],
    });
    const read = async (kind: 'crl' | 'certificate', name: string) =>
      await portal.documents.get(`/ca/:issuer/${kind}`)!.read(name);
    const [issuer, root] = [await ca.issuer(), await ca.issuer('root')];
    expect(await read('certificate', issuer.name)).toEqual(issuer.chain[0]);
    expect(await read('certificate', root.name)).toEqual(root.chain[0]);
    expect(readCrl((await read('crl', root.name))!).number).toBe(1);
    for (const unknown of ['', '0'.repeat(16), issuer.id]) {
      expect(await read('certificate', unknown)).toBeUndefined();
      expect(await read('crl', unknown)).toBeUndefined();
    }
    expect(portal.documents.get('/ca/:issuer/crl')?.contentType).toBe(
      'application/pkix-crl',
    );

    const authority = portal.authorities.get('embedded')!;
    const issued = await authority.sign(aliceRequest());
    const points = openssl(
      ['x509', '-inform', 'DER', '-noout', '-ext', 'crlDistributionPoints'],
      issued.certificate.der,
    );
    expect(points).toMatch(
      new RegExp(
        `URI:http://localhost:\\d+/api/directory/ca/${issuer.name}/crl\n`,
      ),
    );
    const serialNumber = ca.records.add(issued);
    await authority.revoke!({
      serialNumber,
      reason: 'keyCompromise',
      revokedBy: 'user:default/admin',
    });
    expect(readCrl((await read('crl', issuer.name))!).entries).toEqual([
      { serialNumber: String(serialNumber), reason: 'Key Compromise' },
    ]);
    expect(portal.warnings()).toEqual([]);
    await portal.backend.stop();
  });

  it('warns in production that the key is in the process of the portal', async () => {
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = 'production';
    try {
      const portal = await startPortal(block());
      expect(portal.warnings()).toEqual([
        expect.stringContaining('The key of the embedded CA is in the process'),
      ]);
      await portal.backend.stop();
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
  });

  it('creates only the tables of the module, and only once', async () => {
    await migrateDatabase(ca.knex);
    expect(await ca.knex('embedded_ca_migrations')).toHaveLength(1);
    expect(await ca.knex.schema.hasTable('knex_migrations')).toBe(false);
  });
});
