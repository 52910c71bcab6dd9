import fc from 'fast-check';
import type {
  Certificate,
  MaskedMembership,
  MaskedUser,
  Membership,
  SigningVerdict,
  User,
} from './records';
import { createDirectoryClient } from './createDirectoryClient';
import type { DirectoryClient } from './DirectoryClient';
import {
  type DirectoryResponseError,
  isDirectoryResponseError,
} from './DirectoryResponseError';
import { RecordingServer } from './__testUtils__/RecordingServer';

let server: RecordingServer;
let client: DirectoryClient;

beforeAll(async () => {
  server = await RecordingServer.start();
  client = createDirectoryClient({ baseUrl: server.baseUrl });
});

afterAll(() => server.stop());

beforeEach(() => {
  server.requests = [];
});

async function refused(
  call: Promise<unknown>,
): Promise<DirectoryResponseError> {
  const error = await call.catch(thrown => thrown);
  if (!isDirectoryResponseError(error)) {
    throw new Error(`Expected a DirectoryResponseError, got ${error}`);
  }
  return error;
}

const serialNumber = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });

describe('serial numbers', () => {
  it('are exact in the path and in the answer, whatever their length', async () => {
    server.answer = ({ target }) => ({
      body: `{"result":{"serial_number":${target.split('/')[3]}}}`,
    });
    await fc.assert(
      fc.asyncProperty(serialNumber, async serial_number => {
        const { data } = await client.get('/certs/{serial_number}/', {
          params: { path: { serial_number } },
        });
        expect(server.requests.at(-1)?.target).toBe(
          `/v1/certs/${serial_number}/`,
        );
        expect(data.result.serial_number).toBe(serial_number);
      }),
    );
  });

  it('are exact in errors', async () => {
    server.answer = ({ target }) => ({
      status: 404,
      body: `{"message":"Certificate not found","serial_number":${
        target.split('/')[3]
      },"request_id":"r1"}`,
    });
    await fc.assert(
      fc.asyncProperty(serialNumber, async serial_number => {
        const error = await refused(
          client.get('/certs/{serial_number}/', {
            params: { path: { serial_number } },
          }),
        );
        expect(error.body?.serial_number).toBe(serial_number);
      }),
    );
  });

  it('are refused when they are no plain integer', async () => {
    server.answer = () => ({ body: '{"result":{"serial_number":1.5e3}}' });
    await expect(
      client.get('/certs/{serial_number}/', {
        params: { path: { serial_number: 1500n } },
      }),
    ).rejects.toThrow(SyntaxError);
  });
});

describe('requests', () => {
  it('repeat the parameter of an array and encode values', async () => {
    server.answer = () => ({
      body: '{"result":[],"page":1,"page_size":40,"total_results":0}',
    });
    await client.get('/search/users/', {
      params: {
        query: {
          group: ['packager', 'a&b'],
          human_name: 'Zoë *',
          page_size: 3,
        },
      },
    });
    expect(server.requests[0].target).toBe(
      '/v1/search/users/?group=packager&group=a%26b&human_name=Zo%C3%AB%20*&page_size=3',
    );
  });

  it('keep a name in its own path segment', async () => {
    server.answer = () => ({ body: '{"result":false}' });
    const { data } = await client.get(
      '/groups/{groupname}/is-member/{username}',
      { params: { path: { groupname: 'a/../b', username: 'x?y' } } },
    );
    expect(server.requests[0].target).toBe(
      '/v1/groups/a%2F..%2Fb/is-member/x%3Fy',
    );
    expect(data.result).toBe(false);
  });

  it('send the body', async () => {
    server.answer = () => ({ body: '{"result":{"serial_number":12}}' });
    const body = { user: 'alice', csr: 'a+b&c' };
    const { data } = await client.post('/certs/', { body });
    const certificate: Certificate = data.result;
    expect(server.requests[0].method).toBe('POST');
    expect(JSON.parse(server.requests[0].body)).toEqual(body);
    expect(certificate.serial_number).toBe(12n);
  });

  it('ask for a verdict', async () => {
    server.answer = () => ({
      body: '{"result":{"would_sign":true,"rules":[]}}',
    });
    const { data } = await client.post('/certs/', {
      body: { user: 'alice', csr: 'x', dry_run: 'true' as const },
    });
    const verdict: SigningVerdict = data.result;
    expect(verdict).toEqual({ would_sign: true, rules: [] });
  });
});

describe('types', () => {
  it('are complete without a mask and partial with one', async () => {
    server.answer = ({ headers }) => ({
      body: headers['x-fields']
        ? '{"result":{"username":"alice"}}'
        : '{"result":{"username":"alice","locale":null}}',
    });
    const path = { username: 'alice' };

    const whole = await client.get('/users/{username}/', { params: { path } });
    const user: User = whole.data.result;
    expect(user.locale).toBeNull();

    const masked = await client.get('/users/{username}/', {
      params: { path, header: { 'X-Fields': 'username' } },
    });
    const part: MaskedUser = masked.data.result;
    // @ts-expect-error A mask may leave any key out.
    const notWhole: User = masked.data.result;
    expect(server.requests[1].headers['x-fields']).toBe('username');
    expect(notWhole).toEqual({ username: 'alice' });
    expect(part.locale).toBeUndefined();
  });

  it('demand what the contract demands', async () => {
    server.answer = () => ({ body: '{"result":null}' });
    // @ts-expect-error A user is named in the path.
    await client.get('/users/{username}/');
    // @ts-expect-error The request itself is missing.
    await client.post('/certs/', { body: { user: 'alice' } });
    // @ts-expect-error There is no such path.
    await client.get('/nothing/');
    expect(server.requests).toHaveLength(3);
  });
});

describe('extensions', () => {
  it('have records of their own, complete and masked', async () => {
    server.answer = () => ({
      body: '{"result":[{"path":["infra",null,"packager"]}],"page":1,"page_size":40,"total_results":1}',
    });
    const path = { username: 'alice' };
    const whole = await client.get('/users/{username}/memberships/', {
      params: { path },
    });
    const { direct, path: chain }: Membership = whole.data.result[0];
    const masked = await client.get('/users/{username}/memberships/', {
      params: { path, header: { 'X-Fields': 'path,member_count' } },
    });
    const { member_count }: MaskedMembership = masked.data.result[0];
    expect([direct, chain, member_count]).toEqual([
      undefined,
      ['infra', null, 'packager'],
      undefined,
    ]);
  });

  it('stream a file, and throw where it is refused', async () => {
    server.answer = () => ({
      headers: { 'X-Total-Results': '1' },
      body: 'username\r\nalice\r\n',
    });
    const ask = () =>
      client.stream('/groups/{groupname}/members.csv', {
        params: { path: { groupname: 'packager' } },
      });
    const { data, response } = await ask();
    expect(response.headers.get('X-Total-Results')).toBe('1');
    expect(await new Response(data).text()).toBe('username\r\nalice\r\n');
    server.answer = () => ({
      status: 404,
      body: '{"message":"Group not found","groupname":"packager","request_id":"r1"}',
    });
    expect(await refused(ask())).toMatchObject({ status: 404 });
    // @ts-expect-error A file is not read as JSON.
    await refused(client.get('/groups/{groupname}/members.csv', {}));
    // @ts-expect-error Records are no file.
    await refused(client.stream('/me/', {}));
  });
});

describe('errors', () => {
  const whoami = () => client.get('/me/');

  it('carry status, body and message', async () => {
    server.answer = () => ({
      status: 401,
      body: '{"message":"Unauthorized. You need to be logged in.","reason":"clock_skew","request_id":"r1"}',
    });
    const error = await refused(whoami());
    expect(error).toMatchObject({
      status: 401,
      message: 'Unauthorized. You need to be logged in.',
      body: { reason: 'clock_skew', request_id: 'r1' },
      retryAfter: undefined,
    });
  });

  it('carry the delay after which to ask again', async () => {
    server.answer = () => ({
      status: 503,
      headers: { 'Retry-After': '7' },
      body: '{"message":"The directory cannot be reached","request_id":"r1"}',
    });
    expect(await refused(whoami())).toMatchObject({ retryAfter: 7 });
  });

  it.each([
    ['{"error":{"name":"TooMany","message":"Slow down"}}', 'Slow down'],
    ['<html>Bad gateway</html>', 'The directory answered 502'],
    ['', 'The directory answered 502'],
    ['null', 'The directory answered 502'],
  ])("tell a foreign body from the gateway's: %s", async (body, message) => {
    server.answer = () => ({ status: 502, body });
    expect(await refused(whoami())).toMatchObject({
      status: 502,
      message,
      body: undefined,
    });
  });

  it('are not raised for what other middleware has mended', async () => {
    server.answer = () => ({ status: 503, body: '' });
    const mend = {
      onResponse: () => new Response('{"result":{"username":"alice"}}'),
    };
    client.use(mend);
    try {
      const { data } = await whoami();
      expect(data.result.username).toBe('alice');
    } finally {
      client.eject(mend);
    }
  });

  it('that fetch throws pass through', async () => {
    const unreachable = new TypeError('fetch failed');
    const offline = createDirectoryClient({
      baseUrl: 'plugin://directory/v1',
      fetch: () => Promise.reject(unreachable),
    });
    await expect(offline.get('/me/')).rejects.toBe(unreachable);
  });

  it('include an answer that is no JSON', async () => {
    server.answer = () => ({ body: '<html>Log in</html>' });
    await expect(whoami()).rejects.toThrow(SyntaxError);
  });
});
