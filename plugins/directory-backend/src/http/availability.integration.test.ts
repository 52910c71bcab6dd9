import assert from 'node:assert/strict';
import {
  eventually,
  groupDn,
} from '@directory-gateway/directory-core/testUtils';
import { ldapOf } from '@directory-gateway/ldap/testUtils';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { form } from '../__testUtils__/gateway/GatewayClient';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';
import { SteadyLoad } from '../__testUtils__/gateway/SteadyLoad';
import { embeddedAuthority } from '../__testUtils__/gateway/directoryConfig';
import {
  refreshByTicket,
  tokenByTicket,
} from '../__testUtils__/gateway/signIn';
import { withGateway } from '../__testUtils__/gateway/withGateway';

jest.setTimeout(600_000);

/** Duration of each outage. Default: until each client has 30 responses. */
const OUTAGE_SECONDS = Number(process.env.OUTAGE_SECONDS || 0);

const serviceToken = 'a-token-of-another-plugin';

const READ = 'directory.read';

const READS = [
  '/v1/me/',
  '/v1/users/bob/',
  '/v1/users/?page_size=40&page_number=3',
  '/v1/groups/packager/members/',
  '/v1/search/users/?email=alice@example.test',
];

/** Sends requests before the outages. */
const SEEN_SERVICE = 'bot/builder.example.test';
/** Sends its first request during an outage. */
const NEW_HOST = 'host/build1.example.test';

const site = withGateway({
  // 20,000 in `make trials`.
  users: Number(process.env.USERS) || undefined,
  configure: realm => ({
    // The whole portal: its root router adds Retry-After to all responses.
    entry: 'portal',
    serviceToken,
    policy: {
      administrators: ['user:default/dave'],
      dangerouslyAllowGuests: true,
    },
    kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
    directory: {
      access: [
        { principals: ['*'], operations: [READ, 'directory.certificate.sign'] },
        {
          principals: ['dave'],
          operations: [
            'directory.certificate.revoke',
            'directory.members.export',
            'directory.replica.override',
          ],
        },
      ],
      portalUsers: { namespace: 'default', username: 'entityName' },
      certificates: embeddedAuthority(realm),
      ldap: ldapOf(realm),
      // The duration of the outage depends on the machine.
      ...(OUTAGE_SECONDS === 0 && { replica: { maxStaleness: '1h' } }),
    },
  }),
});

/** Portal token of dave. */
let daveToken: string;

beforeAll(async () => {
  const { client, gateway, realm } = site;
  daveToken = await tokenByTicket(gateway, { realm, principal: 'dave' });
  await eventually(async () => {
    for (const as of ['alice', SEEN_SERVICE]) {
      const { status } = await client.request('/v1/users/bob/', { as });
      assert.equal(status, 200, as);
    }
    const { status } = await client.request('/v1/me/', { as: 'carol' });
    assert.equal(status, 401);
  });
});

/** Status, and presence of a Retry-After header. */
interface Outcome {
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

const UNAVAILABLE = { status: 503, hasRetryAfter: true };

/** Operations through Backstage's route of actions, which has no Retry-After. */
const ACTIONS = ['overrideGuard', 'revokeByAction'];

const outcomeOf = (response: {
  status: number;
  headers: Headers;
}): Outcome => ({
  status: response.status,
  hasRetryAfter: /^\d+$/.test(response.headers.get('retry-after') ?? ''),
});

const requestAs = async (as: string, path: string, options = {}) =>
  outcomeOf(await site.client.request(path, { as, ...options }));

const invoke = async (action: string, input: object) =>
  outcomeOf(
    await fetch(
      `${site.gateway.baseUrl}/api/directory/.backstage/actions/v1/actions/directory:${action}/invoke`,
      {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${daveToken}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(input),
      },
    ),
  );

/** Outcome of each operation other than a read. */
const write = async (): Promise<Readonly<Record<string, Outcome>>> => ({
  sign: await requestAs(
    'alice',
    '/v1/certs/',
    form({ user: 'alice', csr: makeCsr({ subject: '/CN=alice' }) }),
  ),
  checkSigning: await requestAs(
    'alice',
    '/v1/certs/',
    form({
      user: 'alice',
      csr: makeCsr({ subject: '/CN=alice' }),
      dry_run: 'true',
    }),
  ),
  revoke: await requestAs(
    'dave',
    '/v1/certs/1/revocation/',
    form({ reason: 'superseded' }),
  ),
  export: await requestAs('dave', '/v1/groups/packager/members.csv'),
  revokeByAction: await invoke('revoke-certificate', {
    serial: '1',
    reason: 'superseded',
  }),
  overrideGuard: await invoke('override-deletion-guard', {
    users: 1,
    groups: 1,
  }),
});

/** Outcomes of {@link write} without an outage. */
const WRITTEN = {
  sign: { status: 200 },
  checkSigning: { status: 200 },
  // There is no such certificate.
  revoke: { status: 404 },
  export: { status: 200 },
  revokeByAction: { status: 404 },
  // There is no quarantine.
  overrideGuard: { status: 400 },
};

const account = async (username: string) => {
  const response = await fetch(
    `${site.gateway.baseUrl}/api/directory/v1/accounts/${username}@EXAMPLE.TEST/`,
    { headers: { Authorization: `Bearer ${serviceToken}` } },
  );
  return { ...outcomeOf(response), body: await response.json() };
};

const signIn = async (principal: string) => {
  const { gateway, realm } = site;
  const { krb5Config } = realm;
  const ccache = await realm.ticket(principal);
  const { status } = await refreshByTicket(gateway, { krb5Config, ccache });
  return status;
};

/**
 * Waits until the replica has a new description of a group: the next outage
 * must not begin with an old replica.
 */
async function untilFollowing(description: string): Promise<void> {
  const { client, realm } = site;
  const dn = groupDn('packager');
  await realm.modify(
    `dn: ${dn}\nchangetype: modify\nreplace: description\ndescription: ${description}\n`,
  );
  await eventually(async () => {
    const { text } = await client.request('/v1/groups/packager/', {
      as: 'alice',
    });
    expect(text).toContain(description);
  });
}

it('performs each operation while the directory responds', async () => {
  expect(await write()).toMatchObject(WRITTEN);
});

describe.each(['stopped', 'paused'] as const)(
  'while the only directory server is %s',
  outage => {
    /** Not looked up before this outage. */
    const newUser = outage === 'stopped' ? 'erin' : 'john.doe';
    let load: SteadyLoad;

    beforeAll(async () => {
      const { client, gateway, realm } = site;
      const principal = 'alice';
      load = await SteadyLoad.start(
        [
          client.as(principal),
          await HttpClient.withSession(gateway, { client, principal }),
          await HttpClient.asGuest(gateway),
        ],
        READS,
        { workers: 1 },
      );
      await load.progress(5);
      await (outage === 'stopped'
        ? realm.directory.stop()
        : realm.directory.pause());
      await load.progress(5);
    });

    it('returns 503 for all operations other than reads', async () => {
      const outcomes = await write();
      const names = Object.keys(WRITTEN);
      expect(outcomes).toEqual(
        Object.fromEntries(
          names.map(name => [
            name,
            { ...UNAVAILABLE, hasRetryAfter: !ACTIONS.includes(name) },
          ]),
        ),
      );
    });

    it('lets users sign in who were looked up before, and returns 503 to others', async () => {
      expect(await account('alice')).toMatchObject({
        status: 200,
        body: { result: { username: 'alice', locked: false, expired: false } },
      });
      expect(await account(newUser)).toMatchObject(UNAVAILABLE);
      expect(await signIn('alice')).toBe(200);
      expect(await signIn(newUser)).toBe(503);
      // The API does not require a sign-in.
      expect(await requestAs(newUser, '/v1/me/')).toMatchObject({
        status: 200,
      });
    });

    it('verifies hosts and services by their last lookup', async () => {
      expect(await requestAs(SEEN_SERVICE, '/v1/users/bob/')).toMatchObject({
        status: 200,
      });
      expect(await requestAs(NEW_HOST, '/v1/users/bob/')).toEqual(UNAVAILABLE);
    });

    it('returns 401 to locked and expired users', async () => {
      for (const as of ['carol', 'eve']) {
        expect([as, await requestAs(as, '/v1/me/')]).toMatchObject([
          as,
          { status: 401 },
        ]);
      }
    });

    it('does not fail reads during the outage and after recovery', async () => {
      await load.progress(
        OUTAGE_SECONDS > 0 ? { seconds: OUTAGE_SECONDS } : 30,
      );
      await (outage === 'stopped'
        ? site.realm.directory.start()
        : site.realm.directory.resume());
      await eventually(async () => expect(await signIn(newUser)).toBe(200));
      await untilFollowing(`after it was ${outage}`);
      await load.progress(5);
      for (const { statuses, wrong } of await load.stop()) {
        expect(Object.keys(statuses)).toEqual(['200']);
        expect(wrong).toEqual([]);
      }
      expect(await write()).toMatchObject(WRITTEN);
    });
  },
);
