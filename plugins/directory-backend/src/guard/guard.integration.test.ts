import assert from 'node:assert';
import {
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import {
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { privilegedRules } from '../__testUtils__/gateway/directoryConfig';
import {
  overrideGuard,
  rejectedCounts,
} from '../__testUtils__/gateway/overrideGuard';
import { guestToken } from '../__testUtils__/gateway/signIn';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const serviceToken = 'a-token-of-a-service-of-the-site';

let realm: Realm;
let postgres: PostgresServer;
/** Processes with one database. */
let gateways: Gateway[] = [];

const start = (until: 'ready' | 'started' = 'ready') =>
  startGateway({
    realm,
    until,
    serviceToken,
    directory: {
      portalUsers: { namespace: 'default', username: 'entityName' },
      access: privilegedRules,
    },
    backend: {
      database: { client: 'pg', connection: postgres.connection('postgres') },
    },
  });

async function stopAll(): Promise<void> {
  await Promise.all(gateways.map(gateway => gateway.stop()));
  gateways = [];
}

/** Status and user names of a list of all users, by process. */
const reads = () =>
  Promise.all(
    gateways.map(async ({ baseUrl }) => {
      const response = await fetch(
        `${baseUrl}/api/directory/v1/users/?page_size=1000`,
        { headers: { authorization: `Bearer ${serviceToken}` } },
      );
      const { result } = await response.json();
      return {
        status: response.status,
        usernames: (result ?? []).map(
          ({ username }: { username: string }) => username,
        ) as string[],
      };
    }),
  );

const untilServing = () =>
  eventually(async () =>
    expect(await reads()).toMatchObject(gateways.map(() => ({ status: 200 }))),
  );

const untilQuarantined = () =>
  eventually(async () => {
    for (const gateway of gateways) {
      assert(rejectedCounts(gateway));
    }
  });

/** Deletes 40 % of the users while no process runs. */
async function deleteUsers(): Promise<void> {
  const [{ usernames }] = await reads();
  await stopAll();
  const deleted = usernames
    .filter(name => !['alice', 'dave'].includes(name))
    .slice(0, Math.ceil(usernames.length * 0.4));
  await realm.modify(
    deleted.map(name => `dn: ${userDn(name)}\nchangetype: delete\n`).join('\n'),
  );
}

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
});
afterAll(async () => {
  await stopAll();
  await realm?.stop();
  await postgres?.stop();
});

it('rejects an emptied directory after a restart until its counts are accepted', async () => {
  gateways = [await start()];
  await untilServing();
  const [{ usernames }] = await reads();
  await deleteUsers();
  gateways = await Promise.all([start(), start()]);
  await untilQuarantined();
  const unavailable = [{ status: 503 }, { status: 503 }];
  expect(await reads()).toMatchObject(unavailable);

  const [gateway, other] = gateways;
  const { users, groups } = rejectedCounts(gateway)!;
  expect(rejectedCounts(other)).toEqual({ users, groups });
  const token = await guestToken(gateway);
  const accept = (counts: { users: number; groups: number }) =>
    overrideGuard(gateway, { ...counts, token });
  expect(await accept({ users: users - 1, groups })).toBe(400);
  expect(await accept({ users, groups: groups + 1 })).toBe(400);
  expect(await reads()).toMatchObject(unavailable);

  expect(await accept({ users, groups })).toBe(200);
  await untilServing();
  const [{ usernames: left }, { usernames: leftOfOther }] = await reads();
  expect(left).toEqual(leftOfOther);
  expect(left.length).toBeLessThan(usernames.length * 0.7);
});

it('returns 503 while the baseline cannot be read for the first sync', async () => {
  await stopAll();
  await realm.directory.stop();
  gateways = [await start('started')];
  await postgres.interrupt();
  await realm.directory.start();
  const [gateway] = gateways;
  await eventually(() =>
    assert(/Reads are suspended: The baseline .* read/.test(gateway.log())),
  );
  expect(await reads()).toMatchObject([{ status: 503 }]);
  await postgres.resume();
  await untilServing();
});
