/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import SwaggerParser from '@apidevtools/swagger-parser';
import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import type { OpenAPI } from 'openapi-types';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import type { Site } from '../gateway/withGateway';

const PATHS = [
  '/v1/me/',
  '/v1/users/',
  '/v1/users/alice/',
  '/v1/groups/packager/members/',
];

/** Suite of credentials, conditional requests and public documents. */
export function describeContract(site: Site): void {
  describe('contract', () => {
    describe('public documents', () => {
      /** Sends a request without credentials. */
      const get = (path: string, init?: RequestInit) =>
        fetch(`${site.gateway.baseUrl}/api/directory${path}`, init);

      it.each(['', '/'])('include the version list at "%s"', async path => {
        const root = `${site.gateway.baseUrl}/api/directory`;
        const response = await get(path);
        expect(response.status).toBe(200);
        expect(await response.json()).toEqual({
          message: 'Welcome to the directory gateway',
          apis: [
            {
              version: 1,
              uri: `${root}/v1/`,
              specs: `${root}/specs/v1.json`,
              docs: `${root}/docs/v1/`,
            },
          ],
        });
      });

      it('include the OpenAPI document', async () => {
        const document = await (await get('/specs/v1.json')).json();
        expect(document).toEqual({
          ...openApiDocument,
          servers: [{ url: '/api/directory/v1' }],
        });
        await expect(
          SwaggerParser.validate(document as OpenAPI.Document),
        ).resolves.toBeDefined();
      });

      it('include the files of the explorer, which browsers may cache', async () => {
        const bundle = await get('/docs/v1/swagger-ui-bundle.js', {
          method: 'HEAD',
        });
        expect(bundle.headers.get('etag')).toMatch(/^(W\/)?"/);
      });

      it('do not include other paths', async () => {
        for (const path of [
          ...['/v1/users/', '/specs/v2.json', '/docs/v1/index.html'],
          ...['/docs/v1/../v1/explorer', '/fasjson/'],
        ]) {
          expect([path, (await get(path)).status]).toEqual([path, 401]);
        }
      });

      it('do not include FASJSON, which needs to be enabled', async () => {
        for (const path of ['/fasjson/v1/me/', '/fasjson/specs/v1.json']) {
          const { status } = await site.client.request(path, { as: 'alice' });
          expect([path, status]).toEqual([path, 401]);
        }
      });
    });

    describe('a request without credentials', () => {
      it.each(['/v1/me/', '/v1/x/'])('returns 401 for %s', async path => {
        const response = await site.client.request(path);
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe('Negotiate');
        expect(response.json).toEqual({
          message: 'Unauthorized. You need to be logged in.',
          reason: 'no_credentials',
          request_id: expect.any(String),
        });
      });

      it.each(['POST', 'OPTIONS'])('returns 401 for %s', async method => {
        const response = await site.client.request('/v1/me/', { method });
        expect(response.status).toBe(401);
      });
    });

    describe('a request with invalid credentials', () => {
      it.each([
        ['Basic', 'Basic YWxpY2U6cGFzc3dvcmQ=', 'no_credentials'],
        ['an invalid Bearer token', 'Bearer nope', 'no_credentials'],
        ...['vnd.backstage.user', 'vnd.backstage.plugin'].flatMap(typ =>
          ['{"sub":"x","exp":1}', 'nope'].map(payload => [
            `a forged token of type ${typ} with the payload ${payload}`,
            `Bearer ${forgedToken(typ, payload)}`,
            'no_credentials',
          ]),
        ),
        [
          'NTLM',
          'NTLM TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAA==',
          'ntlm_refused',
        ],
        [
          'NTLM within Negotiate',
          'Negotiate TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAA==',
          'ntlm_refused',
        ],
        ['a token that is not SPNEGO', 'Negotiate AAAA', 'malformed_token'],
        [
          'a token of more than 64 KiB',
          `Negotiate ${'A'.repeat(90 * 1024)}`,
          'token_too_large',
        ],
      ])('returns 401 for %s', async (_what, authorization, reason) => {
        const response = await site.client.request('/v1/me/', {
          headers: { Authorization: authorization },
        });
        expect(response.status).toBe(401);
        expect(response.json).toMatchObject({ reason });
        expect(response.headers.get('www-authenticate')).toBe(
          reason === 'no_credentials' ? 'Negotiate' : null,
        );
        expect(site.gateway.alive()).toBe(true);
      });

      it('returns 401 for two Authorization headers', async () => {
        const response = await site.client.request('/v1/me/', {
          headers: { Authorization: ['Negotiate AAAA', 'Bearer x'] },
        });
        expect(response.json).toMatchObject({ reason: 'malformed_token' });
      });
    });

    describe('a request with a ticket', () => {
      it('receives mutual authentication, even with an error', async () => {
        for (const path of ['/v1/me/', '/v1/users/nobody/', '/v1/nope/']) {
          const response = await site.client.request(path, { as: 'alice' });
          expect(response.headers.get('www-authenticate')).toMatch(
            /^Negotiate [A-Za-z0-9+/]+=*$/,
          );
        }
      });

      it.each([
        ['carol', 'account_locked'],
        ['eve', 'account_expired'],
        ['ghost', 'unknown_principal'],
      ])('of %s returns 401 (%s)', async (principal, reason) => {
        const response = await site.client.request('/v1/me/', {
          as: principal,
        });
        expect(response.status).toBe(401);
        expect(response.json).toMatchObject({ reason });
      });

      it('does not set a cookie when sessions are disabled', async () => {
        const { status, headers } = await site.client.request('/v1/me/', {
          as: 'alice',
        });
        expect(status).toBe(200);
        expect(headers.getSetCookie()).toEqual([]);
      });
    });

    describe('a conditional request', () => {
      it.each(PATHS)('returns 304 for an unchanged %s', async path => {
        const first = await site.client.request(path, { as: 'alice' });
        expect(first.status).toBe(200);
        const etag = first.headers.get('etag')!;
        for (const method of ['GET', 'HEAD']) {
          const again = await site.client.request(path, {
            method,
            as: 'alice',
            headers: { 'If-None-Match': etag },
          });
          expect(again).toMatchObject({ status: 304, text: '' });
          expect(again.headers.get('etag')).toBe(etag);
          expect(again.headers.get('cache-control')).toBe('private, no-cache');
          expect(again.headers.get('vary')).toMatch(/Authorization/);
          expect(again.headers.get('vary')).toMatch(/X-Fields/);
        }
      });

      it('returns 401 without credentials', async () => {
        const path = '/v1/users/alice/';
        const { headers } = await site.client.request(path, { as: 'alice' });
        const anonymous = await site.client.request(path, {
          headers: { 'If-None-Match': headers.get('etag')! },
        });
        expect(anonymous.status).toBe(401);
        const any = await site.client.request(path, {
          headers: { 'If-None-Match': '*' },
        });
        expect(any.status).toBe(401);
      });

      it('has another ETag for the owner of a private profile', async () => {
        const path = '/v1/users/bob/';
        const own = await site.client.request(path, { as: 'bob' });
        const shown = await site.client.request(path, {
          as: 'alice',
          headers: { 'If-None-Match': own.headers.get('etag')! },
        });
        expect(shown.status).toBe(200);
        expect(shown.headers.get('etag')).not.toBe(own.headers.get('etag'));
      });

      it('returns 200 after a change in the directory', async () => {
        const { headers } = await site.client.request('/v1/users/alice/', {
          as: 'bob',
        });
        await site.realm.modify(
          `dn: uid=alice,cn=users,cn=accounts,${site.realm.baseDn}\n` +
            'changetype: modify\nreplace: fasTimeZone\nfasTimeZone: Asia/Tokyo\n',
        );
        await eventually(async () => {
          const again = await site.client.request('/v1/users/alice/', {
            as: 'bob',
            headers: { 'If-None-Match': headers.get('etag')! },
          });
          expect(again.status).toBe(200);
          expect(again.text).toContain('Asia/Tokyo');
        });
      });
    });
  });
}

/** Returns a JWT whose signature is not valid. */
function forgedToken(type: string, payload: string): string {
  const header = JSON.stringify({ typ: type, alg: 'ES256', kid: 'x' });
  return [header, payload, 'signature']
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.');
}
