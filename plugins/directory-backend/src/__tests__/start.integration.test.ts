import { startRealm, type Realm } from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const serviceToken = 'a-token-of-a-service-of-the-site';

/** The whole portal, with its root HTTP router and health service. */
const entry = 'portal';

/** 20,000 in `make trials`. */
const users = Number(process.env.USERS || 200);

const REQUESTS = 400;

let realm: Realm;
let gateway: Gateway;

beforeAll(async () => {
  realm = await startRealm({ users });
});
afterEach(() => gateway?.stop());
afterAll(() => realm?.stop());

const get = (path: string) =>
  fetch(`${gateway.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${serviceToken}` },
  });

const read = async () => {
  const response = await get('/api/directory/v1/users/?page_size=1');
  const { result } = await response.json();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    users: (result ?? []).length as number,
  };
};

const statusOf = async (path: string) => {
  const response = await get(path);
  const { title, message } = await response.json();
  return [response.status, title ?? message];
};

const READINESS = '/.backstage/health/v1/readiness';
const HEALTH = '/api/directory/healthz';

const isServed = ({ status }: { status: number }) => status === 200;

it('returns data or Retry-After from the first connection', async () => {
  gateway = await startGateway({
    realm,
    serviceToken,
    entry,
    until: 'listening',
  });
  const responses: Awaited<ReturnType<typeof read>>[] = [];
  // Bursts until the portal serves: before plugins start, and during the sync.
  do {
    responses.push(
      ...(await Promise.all(Array.from({ length: REQUESTS }, read))),
    );
  } while (!isServed(responses.at(-1)!));

  const served = responses.filter(isServed);
  expect(served).toEqual(
    served.map(() => ({ status: 200, retryAfter: null, users: 1 })),
  );
  const others = responses.filter(response => !isServed(response));
  expect(others).toEqual(
    others.map(() => ({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      users: 0,
    })),
  );
  // Requests before the plugins have added their routes, or during the sync.
  expect(others.length).toBeGreaterThan(0);
  // Other plugins may still be starting.
  await eventually(async () =>
    expect(await statusOf(READINESS)).toEqual([200, undefined]),
  );
});

it('starts while the directory is down and serves after its first sync', async () => {
  await realm.directory.stop();
  gateway = await startGateway({
    realm,
    serviceToken,
    entry,
    until: 'listening',
  });
  await eventually(async () => {
    expect(await statusOf(`${HEALTH}/live`)).toEqual([200, 'OK']);
    expect(await statusOf(`${HEALTH}/ready`)).toEqual([
      503,
      'First sync has not finished',
    ]);
    expect(await statusOf(READINESS)).toEqual([
      503,
      'Not ready yet: directory replica',
    ]);
  });
  expect(await read()).toMatchObject({
    status: 503,
    retryAfter: expect.anything(),
  });
  await realm.directory.start();
  await eventually(async () => expect((await read()).users).toBe(1));
  expect(await statusOf(`${HEALTH}/ready`)).toEqual([200, 'OK']);
  expect(await statusOf(READINESS)).toEqual([200, undefined]);
});
