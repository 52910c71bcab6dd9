/* eslint-disable jest/no-export -- a suite of certificates.integration.test.ts */
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { makeCsr } from '../certificates/makeCsr';
import { readRevocationList } from '../certificates/readRevocationList';
import {
  form,
  type RequestOptions,
  resultOf,
  serialOf,
} from '../gateway/GatewayClient';
import { embeddedAuthority } from '../gateway/directoryConfig';
import { guestToken } from '../gateway/signIn';
import { type Site, withGateway } from '../gateway/withGateway';

/** Token of an API client that may only read. */
export const READER = 'reader-reader-reader-reader';
/** An administrator of the portal without a directory account. */
export const ADMINISTRATOR = 'user:default/root';

/** Owner of the certificates; requests none in another suite. */
const OWNER = 'john.doe';

const USABLE = { revoked: false, reason: null, ofUser: true, listed: false };

/**
 * Suite of revoking certificates: by their owner, by {@link ADMINISTRATOR} and
 * by dave, who have rules that allow it.
 */
export function describeRevocation(site: Site): void {
  describe('revocation', () => {
    /** Issues a certificate to its owner. */
    async function sign(csr = makeCsr({ subject: `/CN=${OWNER}` })): Promise<{
      readonly serial: string;
      readonly der: string;
    }> {
      const response = await site.client.request('/v1/certs/', {
        as: OWNER,
        ...form({ user: OWNER, csr }),
      });
      const [der] = resultOf(response).certificate_chain as readonly string[];
      return { serial: serialOf(response), der };
    }

    /** State of a certificate in the API, the user record and the CRL. */
    async function stateOf({ serial, der }: Awaited<ReturnType<typeof sign>>) {
      const certificate = await site.client.request(`/v1/certs/${serial}/`, {
        as: 'bob',
      });
      const user = await site.client.request(`/v1/users/${OWNER}/`, {
        as: 'bob',
      });
      const { revoked, revocation_reason: reason } = resultOf(certificate);
      const certificates = resultOf(user).certificates as
        readonly string[] | null;
      const list = await readRevocationList(site.gateway, site.realm);
      return {
        revoked,
        reason,
        ofUser: certificates?.includes(der) ?? false,
        listed: list.serials.includes(serial),
      };
    }

    async function revoke(serial: string, token: string): Promise<Response> {
      const actions = `${site.gateway.baseUrl}/api/directory/.backstage/actions/v1/actions`;
      return await fetch(`${actions}/directory:revoke-certificate/invoke`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ serial, reason: 'keyCompromise' }),
      });
    }

    describe('the revoke-certificate action', () => {
      it('is denied to an API client that may only read', async () => {
        const certificate = await sign();
        const response = await revoke(certificate.serial, READER);
        expect(response.status).toBe(403);
        expect(await stateOf(certificate)).toEqual(USABLE);
      });

      it.each(['', 'no.such.token'])(
        'is denied with the token "%s"',
        async token => {
          const certificate = await sign();
          const response = await revoke(certificate.serial, token);
          expect([401, 403]).toContain(response.status);
          expect(await stateOf(certificate)).toEqual(USABLE);
        },
      );

      it('revokes for an administrator and is audited', async () => {
        const certificate = await sign();
        const other = await sign();
        expect(await stateOf(certificate)).toEqual(USABLE);

        const { serial } = certificate;
        const response = await revoke(serial, await guestToken(site.gateway));
        const { output } = await response.json();
        expect(output).toMatchObject({ serial });

        await eventually(async () =>
          expect(await stateOf(certificate)).toEqual({
            revoked: true,
            reason: 1,
            ofUser: false,
            listed: true,
          }),
        );
        expect(await stateOf(other)).toEqual(USABLE);
        const record = site.gateway
          .log()
          .split('\n')
          .filter(line => line.includes('certificate-revoke'))
          .filter(line => line.includes(serial))
          .at(-1);
        expect(record).toContain(ADMINISTRATOR);
        expect(record).toContain('succeeded');
      });
    });

    describe('POST /certs/{serial}/revocation/', () => {
      const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const post = (
        serial: string,
        options: Partial<RequestOptions> = {},
        reason = 'superseded',
      ) =>
        site.client.request(`/v1/certs/${serial}/revocation/`, {
          method: 'POST',
          body: `reason=${reason}`,
          ...options,
          headers: { ...FORM, ...options.headers },
        });
      const bearer = (token: string) => ({
        headers: { Authorization: `Bearer ${token}` },
      });
      const recordOf = (serial: string) =>
        site.gateway
          .log()
          .split('\n')
          .filter(line => line.includes('certificate-revoke'))
          .filter(line => line.includes(serial));

      it('revokes permanently for an administrator of the portal', async () => {
        const certificate = await sign();
        const { serial } = certificate;
        const administrator = bearer(await guestToken(site.gateway));
        const revoked = await post(serial, administrator);
        expect(revoked).toMatchObject({
          status: 200,
          json: { result: { revoked: true, revocation_reason: 4 } },
        });
        expect(revoked.text).toContain(serial);
        const again = await post(serial, administrator, 'keyCompromise');
        expect(again.json).toEqual(revoked.json);
        await eventually(async () =>
          expect(await stateOf(certificate)).toEqual({
            revoked: true,
            reason: 4,
            ofUser: false,
            listed: true,
          }),
        );
        const [first] = recordOf(serial);
        expect(first).toContain(ADMINISTRATOR);
        expect(recordOf(serial).join('\n')).toContain('succeeded');
      });

      it('revokes for a ticket whose principal has a rule', async () => {
        const { serial } = await sign();
        expect(await post(serial, { as: 'dave' })).toMatchObject({
          status: 200,
        });
        expect(recordOf(serial).at(-1)).toContain('dave');
      });

      it.each<[string, number, () => Promise<RequestOptions>]>([
        ['requests without credentials', 401, async () => ({})],
        ['another user', 403, async () => ({ as: 'bob' })],
        ['an API client that may only read', 403, async () => bearer(READER)],
        [
          'a page of another site',
          403,
          async () => ({
            as: 'dave',
            headers: { Origin: 'https://elsewhere.example.test' },
          }),
        ],
      ])('is denied to %s', async (_who, status, options) => {
        const certificate = await sign();
        const before = site.gateway.log().length;
        expect(await post(certificate.serial, await options())).toMatchObject({
          status,
        });
        expect(await stateOf(certificate)).toEqual(USABLE);
        const isAudited = site.gateway
          .log()
          .slice(before)
          .includes('certificate-revoke');
        expect(isAudited).toBe(status === 403);
      });

      it('revokes for the owner with a ticket', async () => {
        const { serial } = await sign();
        expect(await post(serial, { as: OWNER })).toMatchObject({
          status: 200,
          json: { result: { revoked: true, revocation_reason: 4 } },
        });
        expect(recordOf(serial).at(-1)).toContain(OWNER);
      });

      it('rejects unknown certificates and reasons', async () => {
        const as = 'dave';
        expect(await post('42', { as })).toMatchObject({
          status: 404,
          json: { message: 'Certificate not found', serial_number: 42 },
        });
        const certificate = await sign();
        for (const reason of ['', '1', 'certificateHold', 'caCompromise']) {
          const response = await post(certificate.serial, { as }, reason);
          expect(response).toMatchObject({ status: 400 });
        }
        expect(await stateOf(certificate)).toEqual(USABLE);
      });
    });

    describe('a key that was revoked for keyCompromise', () => {
      const request = (csr: string, path = '/v1/certs/') =>
        site.client.request(path, {
          as: OWNER,
          ...form({ user: OWNER, csr }),
        });
      const REJECTED = {
        status: 400,
        json: {
          rule: 'key',
          message:
            'This key was revoked as compromised. Generate a new key and request a certificate for it.',
        },
      };

      it.each<[string, (serial: string) => Promise<unknown>]>([
        [
          'the API',
          serial =>
            site.client.request(`/v1/certs/${serial}/revocation/`, {
              as: 'dave',
              ...form({ reason: 'keyCompromise' }),
            }),
        ],
        [
          'the action',
          async serial => revoke(serial, await guestToken(site.gateway)),
        ],
      ])(
        'is not certified again after a revocation by %s',
        async (_by, revokeBy) => {
          const csr = makeCsr({ subject: `/CN=${OWNER}` });
          const { serial } = await sign(csr);
          await revokeBy(serial);
          expect(await request(csr)).toMatchObject(REJECTED);
          const dryRun = await request(csr, '/v1/certs/?dry_run=true');
          const { would_sign: wouldSign, rules } = resultOf(dryRun);
          expect(wouldSign).toBe(false);
          expect(rules).toContainEqual({
            rule: 'key',
            passed: false,
            message: REJECTED.json.message,
          });
        },
      );

      it('is blocked after a first revocation for another reason', async () => {
        const csr = makeCsr({ subject: `/CN=${OWNER}` });
        const { serial } = await sign(csr);
        const revokeFor = (reason: string) =>
          site.client.request(`/v1/certs/${serial}/revocation/`, {
            as: 'dave',
            ...form({ reason }),
          });
        await revokeFor('superseded');
        await sign(csr);
        await revokeFor('keyCompromise');
        expect(await request(csr)).toMatchObject(REJECTED);
      });
    });

    describe('with directory.certificates.requirePortalToken', () => {
      const csr = makeCsr({ subject: '/CN=alice' });
      const signing = form({ user: 'alice', csr });
      const revocation = form({ reason: 'superseded' });
      const portal = withGateway({
        within: site,
        configure: realm => ({
          guest: 'user:default/alice',
          directory: {
            access: [
              {
                principals: ['*'],
                operations: [
                  'directory.read',
                  'directory.certificate.sign',
                  'directory.certificate.revoke',
                ],
              },
            ],
            portalUsers: {
              namespace: 'default',
              username: 'entityName',
              mayRequestCertificates: true,
            },
            certificates: {
              ...embeddedAuthority(realm, 'portal-ca'),
              requirePortalToken: true,
            },
          },
        }),
      });

      it('signs and revokes for a portal token, but not for a ticket', async () => {
        const headers = {
          Authorization: `Bearer ${await guestToken(portal.gateway)}`,
        };
        const bearer = ({
          headers: own,
          ...rest
        }: ReturnType<typeof form>) => ({
          ...rest,
          headers: { ...own, ...headers },
        });
        const byTicket = await portal.client.request('/v1/certs/', {
          as: 'alice',
          ...signing,
        });
        expect(byTicket).toMatchObject({
          status: 403,
          json: {
            rule: 'requester',
            message:
              'A Kerberos ticket is not enough to request certificates. Sign in to the portal and request the certificate there.',
          },
        });
        const byToken = await portal.client.request(
          '/v1/certs/',
          bearer(signing),
        );
        expect(byToken.status).toBe(200);

        const path = `/v1/certs/${serialOf(byToken)}/revocation/`;
        expect(
          await portal.client.request(path, { as: 'alice', ...revocation }),
        ).toMatchObject({
          status: 403,
          json: {
            message:
              'A Kerberos ticket is not enough to revoke certificates. Sign in to the portal and revoke the certificate there.',
          },
        });
        const read = await portal.client.request(
          `/v1/certs/${serialOf(byToken)}/`,
          {
            as: 'alice',
          },
        );
        expect(resultOf(read)).toMatchObject({ revoked: false });
        expect(
          (await portal.client.request(path, bearer(revocation))).status,
        ).toBe(200);
      });

      it('does not return these operations to a ticket', async () => {
        const response = await portal.client.request('/v1/me/operations/', {
          as: 'alice',
        });
        expect(resultOf(response)).toMatchObject({
          operations: ['directory.read'],
        });
      });
    });
  });
}
