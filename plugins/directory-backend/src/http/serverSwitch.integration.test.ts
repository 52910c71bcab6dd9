import { eventually } from '@directory-gateway/directory-core/testUtils';
import { TwoServers } from '@directory-gateway/ldap/testUtils';
import { GatewayClient } from '../__testUtils__/gateway/GatewayClient';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';
import { SteadyLoad } from '../__testUtils__/gateway/SteadyLoad';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const PATHS = [
  '/v1/me/',
  '/v1/users/bob/',
  '/v1/users/?page_size=40&page_number=3',
  '/v1/groups/packager/members/',
  '/v1/search/users/?email=alice@example.test',
];

let servers: TwoServers;
let gateway: Gateway;

beforeAll(async () => {
  // 20,000 in `make trials`.
  const users = Number(process.env.USERS) || undefined;
  servers = await TwoServers.start({ users });
  gateway = await startGateway({
    realm: servers.preferred,
    directory: {
      portalUsers: { namespace: 'default', username: 'entityName' },
      ldap: servers.ldap,
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await servers?.stop();
});

it('does not fail requests by ticket, cookie or token during a switch', async () => {
  const client = new GatewayClient({ gateway, realm: servers.preferred });
  const principal = 'alice';
  const callers = [
    client.as(principal),
    await HttpClient.withSession(gateway, { client, principal }),
    await HttpClient.asGuest(gateway),
  ];
  const load = await SteadyLoad.start(callers, PATHS, { workers: 1 });
  await load.progress(10);
  await servers.preferred.directory.stop();
  await eventually(() =>
    expect(gateway.log()).toContain(
      `Replica was synced with ${servers.other.ldapsUrl}`,
    ),
  );
  await load.progress(10);
  for (const { statuses, wrong } of await load.stop()) {
    expect(Object.keys(statuses)).toEqual(['200']);
    expect(wrong).toEqual([]);
  }
});

it('follows the other server even after the first one is available again', async () => {
  const caller = await HttpClient.asGuest(gateway);
  await servers.preferred.directory.start();
  await servers.other.modify(
    `dn: uid=bob,cn=users,cn=accounts,${servers.other.baseDn}
changetype: modify
replace: mail
mail: other@example.test
`,
  );
  await eventually(async () => {
    const { text } = await caller.request('/v1/users/bob/');
    expect(text).toContain('other@example.test');
  });
});
