/* eslint-disable jest/no-export -- a suite for the tests of two databases */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  describeCertificateAuthority,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { CERTIFICATES } from '../database/rows';
import type { EmbeddedCa } from '../createEmbeddedCa';
import { serialNumberOf } from './certificateFacts';
import { aliceRequest } from './requests';
import { PUBLIC_URL, TestCa } from './TestCa';
import type { TestDatabaseKind } from './TestDatabase';

/** Defines the tests of {@link EmbeddedAuthority} on a database. */
export function describeEmbeddedAuthority(kind: TestDatabaseKind): void {
  describeCertificateAuthority({
    name: `EmbeddedAuthority on ${kind.name}`,
    async create() {
      const ca = await TestCa.start(kind);
      const { authority } = await ca.open();
      const ownKey = createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
        key: {
          privateKey: ca.intermediate.key,
          publicKey: createPublicKey(ca.intermediate.key),
        },
      });
      return {
        authority,
        user: { username: 'alice', principal: 'alice@EXAMPLE.TEST' },
        profile: 'userCerts',
        cacn: 'embedded',
        refused: [
          {
            why: "the CA's own key",
            change: { csr: ownKey.csr, publicKey: ownKey.publicKey },
          },
          {
            why: 'an invalid CSR',
            change: { csr: Buffer.from('3000', 'hex') },
          },
          {
            why: 'a name that is too long',
            change: { username: 'a'.repeat(65) },
          },
        ],
        interrupt: () => ca.database.interrupt(),
        async revoke({ serialNumber }) {
          await authority.revoke({
            serialNumber,
            reason: 'superseded',
            revokedBy: 'user:default/admin',
          });
        },
        stop: () => ca.stop(),
      };
    },
  });

  describe(`EmbeddedAuthority on ${kind.name}`, () => {
    let ca: TestCa;
    let node: EmbeddedCa;

    beforeAll(async () => {
      ca = await TestCa.start(kind);
      node = await ca.open();
    });

    afterEach(() => {
      ca.clockAheadMs = 0;
    });

    afterAll(async () => {
      await ca?.stop();
    });

    const rowOf = async (serialNumber: bigint) =>
      await ca.database
        .knex(CERTIFICATES)
        .where({ serial_number: String(serialNumber) })
        .first();

    it('records a hundred concurrent requests byte for byte', async () => {
      const requests = Array.from({ length: 100 }, () => aliceRequest());
      const issued = await Promise.all(
        requests.map(request => node.authority.sign(request)),
      );
      const serialNumbers = issued.map(serialNumberOf);
      expect(new Set(serialNumbers).size).toBe(100);
      for (const [index, serialNumber] of serialNumbers.entries()) {
        const { certificate } = await rowOf(serialNumber);
        expect(certificate).toEqual(issued[index].certificate.der);
      }
      expect(serialNumbers.every(number => number < 1n << 127n)).toBe(true);
    });

    it('issues a certificate according to the profile, and takes only the key from the CSR', async () => {
      const request = aliceRequest({
        alternativeNames: {
          emails: ['alice@example.test'],
          userPrincipalNames: ['alice@EXAMPLE.TEST'],
          kerberosPrincipalNames: ['alice@EXAMPLE.TEST'],
        },
      });
      const before = Math.floor(Date.now() / 1000) * 1000;
      const issued = await node.authority.sign(request);
      const result = issued.certificate.description;
      const documents = `${PUBLIC_URL}/ca/${ca.intermediate.id.slice(0, 16)}`;
      expect(result).toMatchObject({
        ok: true,
        certificate: {
          subject: 'CN=alice,O=EXAMPLE.TEST',
          issuer: 'CN=Certificate Authority,O=EXAMPLE.TEST',
          crlDistributionPoints: [`${documents}/crl`],
          caIssuers: [`${documents}/certificate`],
          ca: false,
          keyUsage: ['digitalSignature'],
          extendedKeyUsage: ['clientAuth'],
          unreadableExtensions: [],
          san: {
            rfc822Name: ['alice@example.test'],
            otherUpn: ['alice@EXAMPLE.TEST'],
            otherKpn: ['alice@EXAMPLE.TEST'],
            dnsName: [],
            uri: [],
          },
        },
      });
      const { certificate } = result as Extract<typeof result, { ok: true }>;
      const days = 24 * 60 * 60 * 1000;
      expect(certificate.notBefore).toBeLessThan(before);
      expect(certificate.notBefore).toBeGreaterThanOrEqual(
        before - 5 * 60 * 1000,
      );
      expect(certificate.notAfter - before).toBeGreaterThanOrEqual(30 * days);
      expect(certificate.notAfter - before).toBeLessThan(31 * days);
      const { der } = issued.certificate;
      expect(
        new X509Certificate(der).publicKey.equals(
          createPublicKey({
            key: request.publicKey,
            format: 'der',
            type: 'spki',
          }),
        ),
      ).toBe(true);
    });

    it('returns the same certificate for a repeated request within a minute', async () => {
      const request = aliceRequest();
      const { certificate } = await node.authority.sign(request);
      ca.clockAheadMs = 59_000;
      const again = await node.authority.sign({ ...request, requestedBy: 'x' });
      expect(again.certificate).toEqual(certificate);
      ca.clockAheadMs = 61_000;
      const later = await node.authority.sign(request);
      expect(serialNumberOf(later)).not.toBe(serialNumberOf({ certificate }));
    });

    it.each([
      { what: 'user', change: { username: 'bob' } },
      {
        what: 'names',
        change: {
          alternativeNames: {
            emails: ['alice@example.test'],
            userPrincipalNames: [],
            kerberosPrincipalNames: [],
          },
        },
      },
    ])(
      'issues another certificate for a different $what',
      async ({ change }) => {
        const request = aliceRequest();
        const first = await node.authority.sign(request);
        const second = await node.authority.sign({ ...request, ...change });
        expect(serialNumberOf(second)).not.toBe(serialNumberOf(first));
      },
    );

    it('returns one certificate for concurrent equal requests on two instances', async () => {
      const other = await ca.open();
      const request = aliceRequest();
      const issued = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          [node, other][index % 2].authority.sign(request),
        ),
      );
      const certificates = issued.map(({ certificate }) =>
        certificate.der.toString('base64'),
      );
      expect(new Set(certificates).size).toBe(1);
    });

    it('issues another certificate when the first one is revoked', async () => {
      const request = aliceRequest();
      const first = await node.authority.sign(request);
      await node.authority.revoke({
        serialNumber: serialNumberOf(first),
        reason: 'keyCompromise',
        revokedBy: 'user:default/admin',
      });
      const second = await node.authority.sign(request);
      expect(serialNumberOf(second)).not.toBe(serialNumberOf(first));
      expect(second.revocation).toBeUndefined();
    });

    it('takes over a serial number that a crash left reserved', async () => {
      const request = aliceRequest();
      const { certificate } = await node.authority.sign(request);
      const serialNumber = serialNumberOf({ certificate });
      await ca.database
        .knex(CERTIFICATES)
        .where({ serial_number: String(serialNumber) })
        .update({ certificate: null });
      expect(await node.authority.get(serialNumber)).toBeUndefined();
      const completed = await node.authority.sign(request);
      expect(serialNumberOf(completed)).toBe(serialNumber);
      // The signer has logged the certificate.
      expect(completed.certificate.der).toEqual(certificate.der);
      expect((await rowOf(serialNumber)).certificate).toEqual(
        completed.certificate.der,
      );
    });

    it('releases the serial number of a refused request', async () => {
      const count = async () =>
        (await ca.database.knex(CERTIFICATES).count({ count: '*' }))[0].count;
      const before = await count();
      const request = aliceRequest({
        alternativeNames: {
          emails: ['ünlaut@example.test'],
          userPrincipalNames: [],
          kerberosPrincipalNames: [],
        },
      });
      await expect(node.authority.sign(request)).rejects.toMatchObject({
        name: 'AuthorityRefusalError',
        kind: 'invalid',
        message:
          'The certificate cannot be written: An alternative name is empty or has characters that its type forbids.',
      });
      expect(await count()).toBe(before);
    });

    it('stays available when the rate limit refuses a request', async () => {
      await node.authority.sign(aliceRequest());
      const limited = await ca.open({ limit: { certificates: 1 } });
      const { available } = limited.issuers;
      await expect(limited.authority.sign(aliceRequest())).rejects.toThrow(
        AuthorityUnavailableError,
      );
      expect(available).toBeDefined();
      expect(limited.issuers.available).toBe(available);
      expect(ca.logger.lines).toContainEqual(
        expect.stringContaining('More than 1 certificates were requested'),
      );
    });

    it('lists usable certificates, which are neither revoked nor expired', async () => {
      const username = 'grace.hopper';
      const requests = [1, 2, 3].map(() => aliceRequest({ username }));
      const serialNumbers = new Array<bigint>();
      for (const request of requests) {
        serialNumbers.push(serialNumberOf(await node.authority.sign(request)));
        ca.clockAheadMs += 1000;
      }
      await node.authority.revoke({
        serialNumber: serialNumbers[1],
        reason: 'unspecified',
        revokedBy: 'user:default/admin',
      });
      const list = async (which: 'usable' | 'all') => {
        const usernames = [username, 'nobody'];
        const listed = await node.authority.listByUsers({ usernames, which });
        expect([...listed.keys()].filter(name => name !== username)).toEqual(
          [],
        );
        return listed.get(username) ?? [];
      };
      const usable = await list('usable');
      expect(usable.map(serialNumberOf)).toEqual([
        serialNumbers[0],
        serialNumbers[2],
      ]);
      expect(usable[0].owners).toEqual([username]);
      ca.clockAheadMs = 31 * 24 * 60 * 60 * 1000;
      expect(await list('usable')).toEqual([]);
      const all = await list('all');
      expect(all.map(serialNumberOf)).toEqual(serialNumbers);
      expect(all.map(({ revocation }) => revocation?.reason)).toEqual([
        undefined,
        0,
        undefined,
      ]);
    });
  });
}
