import { mockServices } from '@backstage/backend-test-utils';
import express from 'express';
import fc from 'fast-check';
import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ResourceUris } from '../response/ResourceUris';
import { readCookie, Sessions } from './Sessions';
import * as tokens from './SessionTokens';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const maxAgeMs = 15 * MINUTE;
const url = 'http://localhost/api/directory';
const NAME = 'directory-session';

jest.mock('./SessionTokens', () => {
  const actual = jest.requireActual('./SessionTokens');
  return { ...actual, openSession: jest.fn(actual.openSession) };
});
const open = jest.mocked(tokens.openSession);

/** Creates sessions with a FASJSON dialect at the given URL. */
async function create(dialectUrl: string): Promise<Sessions> {
  const created = await Sessions.create({
    config: { sessions: {} },
    baseUrl: url,
    dialects: [
      { root: '', uris: new ResourceUris(url) },
      { root: '/fasjson', uris: new ResourceUris(dialectUrl) },
    ],
    logger: mockServices.logger.mock(),
  });
  return created!;
}

let sessions: Sessions;
let server: Server;

beforeAll(async () => {
  const app = express();
  // Like the authenticator, with a header instead of a SPNEGO token.
  app.use(async (req, res) => {
    const ticket = req.get('x-ticket');
    if (ticket) {
      await sessions.offer(req, res, ticket);
    }
    const principal = ticket ?? (await sessions.principalOf(req));
    res.json(principal ?? null);
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => server.close());

beforeEach(async () => {
  // Mocks only the date: the server needs real timers.
  jest.useFakeTimers({
    now: NOW,
    doNotFake: [
      ...(['setTimeout', 'setInterval', 'setImmediate'] as const),
      ...(['clearTimeout', 'clearInterval', 'clearImmediate'] as const),
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
    ],
  });
  jest.clearAllMocks();
  sessions = await create('https://fasjson.example.org');
});
afterEach(() => jest.useRealTimers());

/** Sends a request from an API client. */
async function send(
  headers: Readonly<Record<string, string | undefined>>,
  { path = '/v1/me/', method = 'GET' } = {},
) {
  const { port } = server.address() as AddressInfo;
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers,
    agent: false,
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks = await response.toArray();
  const [setCookie] = response.headers['set-cookie'] ?? [];
  return {
    principal: method === 'HEAD' ? null : JSON.parse(chunks.join('')),
    setCookie,
    cookie: setCookie?.split(';')[0],
    maxAge: Number(/Max-Age=(\d+)/.exec(setCookie ?? '')?.[1]),
  };
}

it('decrypts a cookie once and rejects it after it expires', async () => {
  const { cookie } = await send({ 'x-ticket': 'alice@R' });
  for (let times = 0; times < 5; times++) {
    expect(await send({ cookie })).toEqual({
      principal: 'alice@R',
      maxAge: NaN,
      setCookie: undefined,
      cookie: undefined,
    });
  }
  expect(open).toHaveBeenCalledTimes(1);
  jest.setSystemTime(NOW + maxAgeMs - 1);
  expect(await send({ cookie })).toMatchObject({ principal: 'alice@R' });
  jest.setSystemTime(NOW + maxAgeMs);
  expect(await send({ cookie })).toMatchObject({ principal: null });
});

it('does not issue a cookie to a client with a valid one', async () => {
  const { cookie } = await send({ 'x-ticket': 'alice@R' });
  expect(
    (await send({ 'x-ticket': 'alice@R', cookie })).setCookie,
  ).toBeUndefined();
  const bob = await send({ 'x-ticket': 'bob@R', cookie });
  expect(await send({ cookie: bob.cookie })).toMatchObject({
    principal: 'bob@R',
  });
  jest.setSystemTime(NOW + maxAgeMs);
  expect(
    (await send({ 'x-ticket': 'alice@R', cookie })).setCookie,
  ).toBeDefined();
});

it('uses a different cookie for each URL', async () => {
  const path = '/fasjson/v1/me/';
  const there = await send({ 'x-ticket': 'alice@R' }, { path });
  expect(there.setCookie).toMatch(/^__Secure-directory-session=.*; Path=\/;/);
  for (const [at, principal] of [
    [path, 'alice@R'],
    ['/fasjson', 'alice@R'],
    ['/fasjson2/v1/me/', null],
    ['/v1/me/', null],
  ] as const) {
    expect(await send({ cookie: there.cookie }, { path: at })).toMatchObject({
      principal,
    });
  }
});

it('accepts cookies for read requests only', async () => {
  const { cookie } = await send({ 'x-ticket': 'alice@R' });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    expect(await send({ cookie }, { method })).toMatchObject({
      principal: null,
    });
  }
  expect(open).not.toHaveBeenCalled();
  await send({ cookie }, { method: 'HEAD' });
  expect(open).toHaveBeenCalledTimes(1);
});

it('does not decrypt long cookies and cookies of browsers', async () => {
  const { cookie } = await send({ 'x-ticket': 'alice@R' });
  const requests: Record<string, string>[] = [
    { cookie: `${NAME}=${'A'.repeat(4097)}` },
    { cookie, origin: 'http://localhost' },
    { cookie, 'sec-fetch-mode': 'navigate' },
  ];
  for (const headers of requests) {
    expect(await send(headers)).toMatchObject({ principal: null });
  }
  expect(open).not.toHaveBeenCalled();
});

it.each([
  [`${url}/fasjson`, 'Path=/api/directory', false],
  ['http://localhost/fas', 'Path=/fas', false],
  ['https://portal.example.org/dir/', 'Path=/dir', true],
  ['https://fasjson.example.org', 'Path=/', true],
])('sets the attributes of a cookie for %s', async (at, path, isSecure) => {
  sessions = await create(at);
  const headers = { 'x-ticket': 'alice@R' };
  const { setCookie } = await send(headers, { path: '/fasjson/v1/me/' });
  const [pair, ...attributes] = setCookie!.split('; ');
  expect(pair.split('=')[0]).toBe(
    `${isSecure ? '__Secure-' : ''}directory-session`,
  );
  expect(attributes.sort()).toEqual(
    [
      ...['HttpOnly', 'SameSite=Strict', 'Max-Age=900', path],
      ...(isSecure ? ['Secure'] : []),
    ].sort(),
  );
});

describe('readCookie', () => {
  it('finds the session cookie among other cookies', () => {
    expect(readCookie(`${NAME}=abc`, NAME)).toBe('abc');
    expect(readCookie(`a=b; ${NAME}=abc;c=d`, NAME)).toBe('abc');
    expect(readCookie(`a=${'b'.repeat(10_000)}; ${NAME}=abc`, NAME)).toBe(
      'abc',
    );
    expect(readCookie(`broken;  ${NAME} = abc ;=;;`, NAME)).toBe('abc');
  });

  it.each([
    undefined,
    '',
    'a=b',
    NAME,
    `${NAME.toUpperCase()}=abc`,
    `x${NAME}=abc`,
    `${NAME}x=abc`,
    `a=${NAME}`,
    `${NAME}=abc; ${NAME}=abc`,
    `${NAME}=abc; ${NAME}=`,
    `${NAME}=abc; x${NAME}=abc`,
    `${NAME}=abc; a=${'b'.repeat(16_384)}`,
  ])('does not find a session cookie in %s', header => {
    expect(readCookie(header, NAME)).toBeUndefined();
  });

  it('returns values unchanged or ignores them', () => {
    const piece = fc.oneof(
      fc.constantFrom(NAME, '=', ';', ' ', '"', ',', '%3D', '__proto__', 'a'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const header = pieces.join('');
        const value = readCookie(header, NAME);
        expect(value === undefined || header.includes(value)).toBe(true);
      }),
    );
  });
});
