import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  coreServices,
  createServiceFactory,
} from '@backstage/backend-plugin-api';
import {
  mockCredentials,
  mockServices,
  startTestBackend,
} from '@backstage/backend-test-utils';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import type { JsonObject } from '@backstage/types';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  type CertificateAuthority,
  type PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import { AuditTrail } from './__testUtils__/AuditTrail';
import { serialNumberOf } from './__testUtils__/certificateFacts';
import { readRevocationList } from './__testUtils__/readRevocationList';
import { aliceRequest } from './__testUtils__/requests';
import { directoryModuleEmbeddedCa } from './module';

const ACTIONS = '/api/directory/.backstage/actions/v1/actions';

describe('directoryModuleEmbeddedCa', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function startPortal(options: {
    readonly embedded?: JsonObject;
    readonly mayRevoke?: boolean;
  }) {
    const authorities = new Map<string, CertificateAuthority>();
    const documents = new Map<string, PublicDocument>();
    const audit = new AuditTrail();
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
        mockServices.permissions.factory({
          result: options.mayRevoke
            ? AuthorizeResult.ALLOW
            : AuthorizeResult.DENY,
        }),
        createServiceFactory({
          service: coreServices.auditor,
          deps: {},
          factory: () => audit,
        }),
      ],
    });
    const ask = async (path: string, user: string, init?: RequestInit) => {
      const url = `http://localhost:${backend.server.port()}${ACTIONS}${path}`;
      const headers = {
        Authorization: mockCredentials.user.header(user),
        'Content-Type': 'application/json',
      };
      return await fetch(url, { ...init, headers });
    };
    return {
      ...{ backend, authorities, documents, audit },
      /** Asks for the revocation as an agent or a person would. */
      revoke: async (input: JsonObject, user = 'user:default/admin') =>
        await ask('/directory:revoke-certificate/invoke', user, {
          method: 'POST',
          body: JSON.stringify(input),
        }),
      /** Names of the actions that a person sees. */
      async listActions(user = 'user:default/admin') {
        const { actions } = await (await ask('', user)).json();
        return actions.map(({ name }: { name: string }) => name);
      },
    };
  }

  it('is not there unless it is configured', async () => {
    const portal = await startPortal({ mayRevoke: true });
    expect([...portal.authorities, ...portal.documents]).toEqual([]);
    expect(await portal.listActions()).toEqual([]);
    await portal.backend.stop();
  });

  it.each([
    ['organization', { keyFile: '/x' }],
    ['keyFile', { organization: 'X' }],
    ['keyFile', { organization: 'X', keyFile: 'relative.pem' }],
  ])('does not start when %s is wrong', async (key, embedded) => {
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
        mayRevoke: true,
      });
      authority = portal.authorities.get('embedded')!;
      await stat(keyFile);
    });

    afterAll(async () => {
      await portal?.backend.stop();
    });

    const readList = async () =>
      readRevocationList(await portal.documents.get('/ca/crl')!.read());

    it('offers the revocation list to everybody, from the start', async () => {
      expect(portal.documents.get('/ca/crl')?.contentType).toBe(
        'application/pkix-crl',
      );
      expect(await readList()).toMatchObject({ number: 1, serialNumbers: [] });
      const { certificate } = await authority.sign(aliceRequest());
      expect(certificate.toString('latin1')).toMatch(
        /http:\/\/localhost:\d+\/api\/directory\/ca\/crl/,
      );
    });

    it.each(['decimal', 'hexadecimal'])(
      'revokes by the action, its serial number %s',
      async form => {
        const issued = await authority.sign(aliceRequest());
        const serialNumber = serialNumberOf(issued);
        const response = await portal.revoke({
          serial:
            form === 'decimal'
              ? String(serialNumber)
              : `0x${serialNumber.toString(16).toUpperCase()}`,
          reason: 'keyCompromise',
        });
        const { output } = await response.json();
        expect(output).toEqual({
          serial: String(serialNumber),
          revokedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        });
        expect((await authority.get(serialNumber))?.revocation).toEqual({
          reason: 1,
        });
        expect((await readList()).serialNumbers).toContain(serialNumber);
        expect(portal.audit.events.at(-1)).toEqual({
          eventId: 'certificate-revoke',
          outcome: 'success',
          serialNumber: String(serialNumber),
          reason: 'keyCompromise',
          revokedBy: 'user:default/admin',
          revokedAt: output.revokedAt,
        });
      },
    );

    it.each([
      ['an unknown one', { serial: '42' }, 404],
      ['no number', { serial: 'forty-two' }, 400],
      ['a negative one', { serial: '-1' }, 400],
      ['an endless one', { serial: '1'.repeat(5000) }, 400],
      ['a number that JSON rounds', { serial: 42 }, 400],
      [
        'a reason of authorities',
        { serial: '42', reason: 'cACompromise' },
        400,
      ],
    ])('answers for %s with an error', async (_what, input, status) => {
      expect((await portal.revoke(input)).status).toBe(status);
    });

    it('lists the action', async () => {
      expect(await portal.listActions()).toEqual(['revoke-certificate']);
    });
  });

  it('revokes nothing for those who may not, and shows them no action', async () => {
    const portal = await startPortal({
      embedded: {
        organization: 'EXAMPLE.TEST',
        keyFile: join(folder, 'other-key.pem'),
      },
    });
    const authority = portal.authorities.get('embedded')!;
    const serialNumber = serialNumberOf(await authority.sign(aliceRequest()));
    const mallory = 'user:default/mallory';
    expect(await portal.listActions(mallory)).toEqual([]);
    const input = { serial: String(serialNumber) };
    expect((await portal.revoke(input, mallory)).status).toBe(404);
    expect((await authority.get(serialNumber))?.revocation).toBeUndefined();
    await portal.backend.stop();
  });
});
