import fc from 'fast-check';
import type { components } from './generated/openapi';
import type {
  Certificate,
  MaskedUser,
  Membership,
  SigningCheck,
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

async function errorOf(
  call: Promise<unknown>,
): Promise<DirectoryResponseError> {
  const error = await call.catch(thrown => thrown);
  if (!isDirectoryResponseError(error)) {
    throw new Error(`Expected a DirectoryResponseError, got ${error}`);
  }
  return error;
}

const serialNumber = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });

describe('DirectoryClient serial numbers', () => {
  it('are exact in paths and responses, at any length', async () => {
    server.respond = ({ target }) => ({
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
    server.respond = ({ target }) => ({
      status: 404,
      body: `{"message":"Certificate not found","serial_number":${
        target.split('/')[3]
      },"request_id":"r1"}`,
    });
    await fc.assert(
      fc.asyncProperty(serialNumber, async serial_number => {
        const error = await errorOf(
          client.get('/certs/{serial_number}/', {
            params: { path: { serial_number } },
          }),
        );
        expect(error.body?.serial_number).toBe(serial_number);
      }),
    );
  });

  it('are rejected when they are not integers', async () => {
    server.respond = () => ({ body: '{"result":{"serial_number":1.5e3}}' });
    await expect(
      client.get('/certs/{serial_number}/', {
        params: { path: { serial_number: 1500n } },
      }),
    ).rejects.toThrow(SyntaxError);
  });
});

describe('DirectoryClient requests', () => {
  it('repeat the parameter of an array and encode values', async () => {
    server.respond = () => ({
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

  it('encode a name as one path segment', async () => {
    server.respond = () => ({ body: '{"result":false}' });
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
    server.respond = () => ({ body: '{"result":{"serial_number":12}}' });
    const body = { user: 'alice', csr: 'a+b&c' };
    const { data } = await client.post('/certs/', { body });
    const certificate: Certificate = data.result;
    expect(server.requests[0].method).toBe('POST');
    expect(JSON.parse(server.requests[0].body)).toEqual(body);
    expect(certificate.serial_number).toBe(12n);
  });

  it('return a signing check for dry_run', async () => {
    server.respond = () => ({
      body: '{"result":{"would_sign":true,"rules":[]}}',
    });
    const { data } = await client.post('/certs/', {
      body: { user: 'alice', csr: 'x', dry_run: 'true' as const },
    });
    const check: SigningCheck = data.result;
    expect(check).toEqual({ would_sign: true, rules: [] });
  });
});

describe('DirectoryClient types', () => {
  it('are complete without a mask and partial with one', async () => {
    server.respond = ({ headers }) => ({
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
    // @ts-expect-error A mask may omit any key.
    const notWhole: User = masked.data.result;
    expect(server.requests[1].headers['x-fields']).toBe('username');
    expect(notWhole).toEqual({ username: 'alice' });
    expect(part.locale).toBeUndefined();
  });

  it('require the parameters of the contract', async () => {
    server.respond = () => ({ body: '{"result":null}' });
    // @ts-expect-error The path requires a user name.
    await client.get('/users/{username}/');
    // @ts-expect-error The CSR is missing.
    await client.post('/certs/', { body: { user: 'alice' } });
    // @ts-expect-error The path does not exist.
    await client.get('/nothing/');
    expect(server.requests).toHaveLength(3);
  });
});

describe('DirectoryClient extensions', () => {
  it('have complete and masked records', async () => {
    server.respond = () => ({
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
    const { member_count }: components['schemas']['MaskedMembership'] =
      masked.data.result[0];
    expect([direct, chain, member_count]).toEqual([
      undefined,
      ['infra', null, 'packager'],
      undefined,
    ]);
  });

  it('stream a file and throw for an error status', async () => {
    server.respond = () => ({
      headers: { 'X-Total-Results': '1' },
      body: 'username\r\nalice\r\n',
    });
    const download = () =>
      client.stream('/groups/{groupname}/members.csv', {
        params: { path: { groupname: 'packager' } },
      });
    const { data, response } = await download();
    expect(response.headers.get('X-Total-Results')).toBe('1');
    expect(await new Response(data).text()).toBe('username\r\nalice\r\n');
    server.respond = () => ({
      status: 404,
      body: '{"message":"Group not found","groupname":"packager","request_id":"r1"}',
    });
    expect(await errorOf(download())).toMatchObject({ status: 404 });
    // @ts-expect-error A file is not JSON.
    await errorOf(client.get('/groups/{groupname}/members.csv', {}));
    // @ts-expect-error Records are not a file.
    await errorOf(client.stream('/me/', {}));
  });
});

describe('DirectoryClient errors', () => {
  const getMe = () => client.get('/me/');

  it('contain status, body and message', async () => {
    server.respond = () => ({
      status: 401,
      body: '{"message":"Unauthorized. You need to be logged in.","reason":"clock_skew","request_id":"r1"}',
    });
    const error = await errorOf(getMe());
    expect(error).toMatchObject({
      status: 401,
      message: 'Unauthorized. You need to be logged in.',
      body: { reason: 'clock_skew', request_id: 'r1' },
      retryAfter: undefined,
    });
  });

  it('contain the delay before a retry', async () => {
    server.respond = () => ({
      status: 503,
      headers: { 'Retry-After': '7' },
      body: '{"message":"The directory cannot be reached","request_id":"r1"}',
    });
    expect(await errorOf(getMe())).toMatchObject({ retryAfter: 7 });
  });

  it.each([
    ['{"error":{"name":"TooMany","message":"Slow down"}}', 'Slow down'],
    ['<html>Bad gateway</html>', 'The directory returned 502'],
    ['', 'The directory returned 502'],
    ['null', 'The directory returned 502'],
  ])(
    "do not contain a body when the response is not the gateway's: %s",
    async (body, message) => {
      server.respond = () => ({ status: 502, body });
      expect(await errorOf(getMe())).toMatchObject({
        status: 502,
        message,
        body: undefined,
      });
    },
  );

  it('are not thrown when other middleware replaces the response', async () => {
    server.respond = () => ({ status: 503, body: '' });
    const replaceResponse = {
      onResponse: () => new Response('{"result":{"username":"alice"}}'),
    };
    client.use(replaceResponse);
    try {
      const { data } = await getMe();
      expect(data.result.username).toBe('alice');
    } finally {
      client.eject(replaceResponse);
    }
  });

  it('from fetch are passed on', async () => {
    const unreachable = new TypeError('fetch failed');
    const offline = createDirectoryClient({
      baseUrl: 'plugin://directory/v1',
      fetch: () => Promise.reject(unreachable),
    });
    await expect(offline.get('/me/')).rejects.toBe(unreachable);
  });

  it('include a response that is not JSON', async () => {
    server.respond = () => ({ body: '<html>Log in</html>' });
    await expect(getMe()).rejects.toThrow(SyntaxError);
  });
});
