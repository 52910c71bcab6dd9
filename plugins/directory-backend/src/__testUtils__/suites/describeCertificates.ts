/* eslint-disable jest/no-export -- a suite of certificates.integration.test.ts */
import { signingKeyOf, writePem } from '@directory-gateway/x509';
import { createCaCertificate } from '@directory-gateway/x509/testUtils';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { revocationListPath } from '../certificates/issuerFiles';
import { makeCsr } from '../certificates/makeCsr';
import { form, multipart, resultOf, serialOf } from '../gateway/GatewayClient';
import { HttpClient } from '../gateway/HttpClient';
import { embeddedAuthority } from '../gateway/directoryConfig';
import type { Site } from '../gateway/withGateway';

/**
 * Suite of requesting and reading certificates, with the profiles, the signer
 * and the limit of the site.
 */
export function describeCertificates(site: Site): void {
  describe('certificates', () => {
    describe('POST /certs/', () => {
      const csr = makeCsr({ subject: '/CN=alice' });

      it.each([
        ['a form', () => form({ user: 'alice', csr })],
        ['a multipart form', () => multipart({ user: 'alice', csr })],
        [
          'JSON',
          () => ({
            method: 'POST',
            body: JSON.stringify({ user: 'alice', csr }),
            headers: { 'Content-Type': 'application/json' },
          }),
        ],
      ])('signs the CSR of the caller in %s', async (_what, request) => {
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...request(),
        });
        expect(response.status).toBe(200);
        expect(resultOf(response)).toMatchObject({
          subject: 'CN=alice,O=EXAMPLE.TEST',
          revoked: false,
        });
      });

      it.each([
        ['without a boundary', 'multipart/form-data', '--frame--'],
        [
          'that is truncated',
          'multipart/form-data; boundary=frame',
          '--frame\r\nCon',
        ],
      ])('rejects a multipart form %s', async (_what, type, body) => {
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          method: 'POST',
          body,
          headers: { 'Content-Type': type },
        });
        expect([response.status, response.json]).toMatchObject([
          400,
          { message: 'Input payload validation failed' },
        ]);
      });

      it('signs the CSR in a query and finds the certificate by its serial number', async () => {
        const query = new URLSearchParams({ user: 'alice', csr });
        const signed = await site.client.request(`/v1/certs/?${query}`, {
          as: 'alice',
          method: 'POST',
        });
        const serial = serialOf(signed);
        const read = await site.client.request(`/v1/certs/${serial}/`, {
          as: 'bob',
        });
        expect(serial.length).toBeGreaterThan(30);
        expect(read.text).toBe(signed.text);
      });

      it('returns a certificate that OpenSSL verifies and describes in the same way', async () => {
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...form({ user: 'alice', csr }),
        });
        const signed = resultOf(response);
        const [, root] = signed.certificate_chain as string[];
        const folder = await mkdtemp(join(tmpdir(), 'signed-'));
        try {
          const [leafFile, rootFile] = ['leaf', 'root'].map(name =>
            join(folder, `${name}.pem`),
          );
          await writeFile(leafFile, String(signed.certificate));
          await writeFile(
            rootFile,
            `-----BEGIN CERTIFICATE-----\n${root}\n-----END CERTIFICATE-----\n`,
          );
          const openssl = (...args: readonly string[]) =>
            execFileSync('openssl', args, { encoding: 'utf8' });
          const purpose = ['-purpose', 'sslclient'];
          expect(
            openssl('verify', ...purpose, '-CAfile', rootFile, leafFile),
          ).toContain(': OK');
          const facts = openssl(
            ...['x509', '-in', leafFile, '-noout', '-nameopt', 'RFC2253'],
            ...['-subject', '-issuer', '-serial', '-fingerprint', '-sha256'],
          );
          const serial = String(signed.serial_number_hex).replace('0x', '');
          const fingerprint = String(signed.sha256_fingerprint).toUpperCase();
          expect(facts).toContain(`subject=${signed.subject}\n`);
          expect(facts).toContain(`issuer=${signed.issuer}\n`);
          expect(facts).toMatch(new RegExp(`serial=0?${serial}\n`));
          expect(facts).toContain(fingerprint);
        } finally {
          await rm(folder, { recursive: true });
        }
      });

      it('returns the result of each rule in a dry run', async () => {
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...form({
            user: 'alice',
            csr: makeCsr({ subject: '/CN=admin' }),
            dry_run: 'true',
          }),
        });
        expect(resultOf(response)).toMatchObject({
          would_sign: false,
          rules: expect.arrayContaining([
            {
              rule: 'common_name',
              passed: false,
              message: expect.stringContaining('user name'),
            },
          ]),
        });
      });

      it('checks requester and profile only for a caller who may not sign', async () => {
        const response = await site.client.request('/v1/certs/', {
          as: 'bob',
          ...form({ user: 'alice', csr, dry_run: 'true' }),
        });
        const { would_sign: wouldSign, rules } = resultOf(response);
        expect(wouldSign).toBe(false);
        const checked = (rules as { rule: string; passed: boolean | null }[])
          .filter(({ passed }) => passed !== null)
          .map(({ rule, passed }) => [rule, passed]);
        expect(checked).toEqual([
          ['requester', false],
          ['profile', true],
        ]);
      });

      it.each([
        ['for another user', 'bob', 'alice', {}, 403, 'requester'],
        ['for an unknown user', 'alice', 'nobody', {}, 400, 'principal'],
        [
          'for a locked user',
          'bot/builder.example.test',
          'carol',
          {},
          400,
          'principal',
        ],
        [
          'for an administrator',
          'bot/builder.example.test',
          'admin',
          {},
          403,
          'requester',
        ],
        [
          'of another profile',
          'alice',
          'alice',
          { profile: 'x' },
          400,
          'profile',
        ],
        ['that cannot be read', 'alice', 'alice', { csr: 'x' }, 400, 'request'],
      ])(
        'rejects a request %s',
        async (_what, as, user, changes, status, rule) => {
          const response = await site.client.request('/v1/certs/', {
            as,
            ...form({ user, csr, ...changes }),
          });
          expect([response.status, response.json]).toEqual([
            status,
            expect.objectContaining({ rule }),
          ]);
        },
      );

      it('signs for other users if the caller is a signer', async () => {
        const response = await site.client.request('/v1/certs/', {
          as: 'bot/builder.example.test',
          ...form({ user: 'bob', csr: makeCsr({ subject: '/CN=bob' }) }),
        });
        expect(resultOf(response)).toMatchObject({ owner_user: ['bob'] });
      });

      it('adds the certificate to its user', async () => {
        const signed = await site.client.request('/v1/certs/', {
          as: 'bot/builder.example.test',
          ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
        });
        const [der] = resultOf(signed).certificate_chain as string[];
        const user = await site.client.request('/v1/users/erin/', {
          as: 'alice',
        });
        expect(resultOf(user).certificates).toContain(der);
      });

      it.each(['TRUE', '1', 'yes', ''])(
        'does not sign when dry_run is "%s"',
        async text => {
          const attempts = () =>
            site.gateway.log().match(/certificate-sign/g)?.length;
          const before = attempts();
          const response = await site.client.request('/v1/certs/', {
            as: 'alice',
            ...form({ user: 'alice', csr, dry_run: text }),
          });
          expect([response.status, response.json, attempts()]).toEqual([
            400,
            expect.objectContaining({
              errors: { dry_run: 'Dry run. Must be true or false.' },
            }),
            before,
          ]);
        },
      );

      it('reports missing and malformed parameters', async () => {
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...form({ user: 'alice', dry_run: 'no' }),
        });
        expect(response.json).toMatchObject({
          message: 'Input payload validation failed',
          errors: {
            dry_run: expect.any(String),
            csr: 'Certificate Signing Request. Missing required parameter in the JSON body or the post body or the query string',
          },
        });
      });

      it('returns 413 for more than 64 KiB and 400 for malformed JSON', async () => {
        const large = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...form({ user: 'alice', csr: 'A'.repeat(70_000) }),
        });
        const broken = await site.client.request('/v1/certs/', {
          as: 'alice',
          method: 'POST',
          body: '{"user":',
          headers: { 'Content-Type': 'application/json' },
        });
        expect([large.status, broken.status]).toEqual([413, 400]);
      });

      it.each([
        ['Origin', 'https://evil.example'],
        ['Origin', 'null'],
        ['Sec-Fetch-Site', 'cross-site'],
        ['Sec-Fetch-Site', 'same-site'],
      ])('rejects and audits a page with %s: %s', async (name, value) => {
        const failures = () =>
          site.gateway
            .log()
            .split('\n')
            .filter(line => /certificate-sign.*failed/.test(line));
        const before = failures().length;
        const request = form({ user: 'alice', csr });
        const response = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...request,
          headers: { ...request.headers, [name]: value },
        });
        expect(response.status).toBe(403);
        await eventually(() => expect(failures()).toHaveLength(before + 1));
        expect(failures().at(-1)).toContain('alice');
      });

      /** Sends a form, JSON and a query; resolves with the statuses. */
      async function sendInEachForm(parameters: {
        readonly user: string;
        readonly csr: string;
      }): Promise<readonly number[]> {
        const inForm = await site.client.request('/v1/certs/', {
          as: 'alice',
          ...form(parameters),
        });
        const inJson = await site.client.request('/v1/certs/', {
          as: 'alice',
          method: 'POST',
          body: JSON.stringify(parameters),
          headers: { 'Content-Type': 'application/json' },
        });
        const inQuery = await site.client.request(
          `/v1/certs/?${new URLSearchParams(parameters)}`,
          { as: 'alice', method: 'POST' },
        );
        return [inForm.status, inJson.status, inQuery.status];
      }

      it('does not log the CSR in any form of request', async () => {
        const challenge = 'MarkerMarkerMarker';
        const marked = makeCsr({ subject: '/CN=alice', challenge });
        const line = marked.split('\n')[2];
        const statuses = await sendInEachForm({ user: 'alice', csr: marked });
        expect(statuses).toEqual([200, 200, 200]);
        const log = site.gateway.log();
        expect(log).toContain('certificate-sign');
        for (const secret of [challenge, line, encodeURIComponent(line)]) {
          expect(log).not.toContain(secret);
        }
      });

      it('rejects a private key and does not log it', async () => {
        const { privateKey } = generateKeyPairSync('rsa', {
          modulusLength: 2048,
        });
        const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
        const line = key.split('\n')[2];
        const statuses = await sendInEachForm({
          user: 'alice',
          csr: csr + key,
        });
        expect(statuses).toEqual([400, 400, 400]);
        expect(site.gateway.log()).not.toContain(line);
        expect(site.gateway.log()).not.toContain(encodeURIComponent(line));
      });

      it('returns 429 with Retry-After to a caller beyond the limit', async () => {
        const check = () =>
          site.client.request('/v1/certs/', {
            as: 'dave',
            ...form({ user: 'dave', csr, dry_run: 'true' }),
          });
        let response = await check();
        for (let sent = 1; sent < 40 && response.status !== 429; sent++) {
          response = await check();
        }
        expect(response.status).toBe(429);
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      });
    });

    describe('GET /certs/profiles/', () => {
      const userCerts = {
        name: 'userCerts',
        purpose: 'Signing in',
        lifetime: 'P30D',
        extended_key_usage: ['clientAuth'],
        is_default: true,
      };
      const builders = {
        name: 'builders',
        purpose: null,
        lifetime: 'P1DT12H',
        extended_key_usage: ['clientAuth', '1.3.6.1.4.1.5'],
        is_default: false,
      };

      it.each([
        // In a group that is nested in one of the two.
        ['erin', [userCerts, builders]],
        ['alice', [userCerts]],
        ['bot/builder.example.test', [userCerts]],
      ])('lists the profiles of %s', async (as, profiles) => {
        const response = await site.client.request('/v1/certs/profiles/', {
          as,
        });
        expect(response.json).toEqual({ result: profiles });
      });

      it('applies a mask', async () => {
        const response = await site.client.request('/v1/certs/profiles/', {
          as: 'alice',
          headers: { 'X-Fields': 'lifetime,name,nope' },
        });
        expect(response.json).toEqual({
          result: [{ lifetime: 'P30D', name: 'userCerts' }],
        });
      });

      it('requires a user of the directory', async () => {
        const anonymous = await site.client.request('/v1/certs/profiles/');
        const unmapped = await HttpClient.asGuest(site.gateway);
        const denied = await unmapped.request('/v1/certs/profiles/');
        expect([anonymous.status, denied.status]).toEqual([401, 403]);
        expect(denied.json).toMatchObject({
          message: 'You have no identity in the directory.',
        });
      });
    });

    describe('GET /users/{username}/certificates/', () => {
      const MARKED = { headers: { 'X-Fields': '*,issued_here' } };
      const list = async (path: string, options: object = {}) => {
        const response = await site.client.request(`/v1/users/${path}`, {
          as: 'alice',
          ...options,
        });
        return (response.json as { result: Record<string, unknown>[] }).result;
      };

      it('shows whole certificates, newest first, page by page', async () => {
        const request = () =>
          site.client.request('/v1/certs/', {
            as: 'bot/builder.example.test',
            ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
          });
        const signed = [await request(), await request()].map(resultOf);
        const all = await list('erin/certificates/');
        const pages = await Promise.all(
          all.map((_, index) =>
            list(`erin/certificates/?page_size=1&page_number=${index + 1}`),
          ),
        );
        expect(all.length).toBeGreaterThan(1);
        expect(all).toEqual(expect.arrayContaining(signed));
        expect(pages.flat()).toEqual(all);
        const times = all.map(({ valid_not_before }) =>
          Date.parse(String(valid_not_before)),
        );
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      });

      it('marks certificates of an entry that were not issued by the CA', async () => {
        const signed = resultOf(
          await site.client.request('/v1/certs/', {
            as: 'bot/builder.example.test',
            ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
          }),
        );
        const issued = new X509Certificate(String(signed.certificate));
        const forged = await createCaCertificate({
          // The subject of the CA, and the serial number of a certificate of it.
          subject: [
            { type: 'O', value: site.realm.realm },
            { type: 'CN', value: 'Certificate Authority' },
          ],
          key: signingKeyOf(
            generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
          ),
          notBefore: new Date(),
          notAfter: new Date(Date.now() + 86_400_000),
          serialNumber: BigInt(`0x${issued.serialNumber}`),
        });
        const certificateOf = (entry: Record<string, unknown>) =>
          new X509Certificate(String(entry.certificate));
        expect(
          certificateOf({ certificate: writePem('CERTIFICATE', forged) })
            .subject,
        ).toBe(issued.issuer);
        const put = (username: string, der: Buffer) =>
          `dn: ${userDn(username)}\nchangetype: modify\n` +
          `add: userCertificate;binary\n` +
          `userCertificate;binary:: ${der.toString('base64')}\n\n`;
        await site.realm.modify(
          put('erin', forged) + put('minimal', issued.raw),
        );

        await eventually(async () => {
          const ofErin = (await list('erin/certificates/', MARKED)).filter(
            entry => entry.serial_number_hex === signed.serial_number_hex,
          );
          expect(
            ofErin.map(entry => [
              certificateOf(entry).raw.equals(forged),
              entry.issued_here,
              entry.cacn,
            ]),
          ).toEqual(
            expect.arrayContaining([
              [true, false, null],
              [false, true, signed.cacn],
            ]),
          );
        });
        // In the entry of another user, the certificate is shown as the CA issued it.
        expect(await list('minimal/certificates/')).toEqual([signed]);
      });

      it('applies a mask, and returns 404 for an unknown user', async () => {
        const masked = await site.client.request(
          '/v1/users/alice/certificates/',
          {
            as: 'bob',
            headers: { 'X-Fields': 'uri,nope,revoked' },
          },
        );
        const [first] = (masked.json as { result: object[] }).result;
        expect(Object.keys(first)).toEqual(['uri', 'revoked']);
        const unknown = await site.client.request(
          '/v1/users/nobody/certificates/',
          {
            as: 'bob',
          },
        );
        expect(unknown.json).toMatchObject({ message: 'User not found' });
      });
    });

    describe('GET /certs/{serial_number}/', () => {
      it.each(['42', '0', '9'.repeat(60)])(
        'returns 404 for the unknown serial number %s',
        async serial => {
          const response = await site.client.request(`/v1/certs/${serial}/`, {
            as: 'alice',
          });
          expect(response.status).toBe(404);
          expect(response.text).toMatch(
            new RegExp(`"serial_number": ?${serial}\\b`),
          );
        },
      );

      it.each(['abc', '-1', '0x12', '1.5'])(
        'returns 404 for the malformed serial number %s',
        async serial => {
          const response = await site.client.request(`/v1/certs/${serial}/`, {
            as: 'alice',
          });
          expect(response.json).toMatchObject({
            message: 'The requested URL was not found on the server.',
          });
        },
      );
    });

    it('publishes the certificate revocation list and no other path', async () => {
      const path = revocationListPath(embeddedAuthority(site.realm).embedded);
      const read = async (document: string) =>
        await fetch(`${site.gateway.baseUrl}/api/directory${document}`);
      const crl = await read(path);
      expect(crl.headers.get('content-type')).toBe('application/pkix-crl');
      const issuer = await read(path.replace(/crl$/, 'certificate'));
      expect(issuer.headers.get('content-type')).toBe('application/pkix-cert');
      expect((await read('/ca/0123456789abcdef/crl')).status).toBe(404);
      for (const closed of [
        '/ca',
        `${path}/x`,
        `${path}/../../../v1/me/`,
        path.replace(/crl$/, 'CRL'),
        path.replace(/crl$/, 'key'),
      ]) {
        expect([closed, (await site.client.request(closed)).status]).toEqual([
          closed,
          401,
        ]);
      }
    });
  });
}
