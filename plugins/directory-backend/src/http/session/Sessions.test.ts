import express from 'express';
import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SessionKeys } from './SessionKeys';
import { Sessions } from './Sessions';
import { SessionTokens } from './SessionTokens';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const maxAgeMs = 15 * MINUTE;
const url = 'http://localhost/api/directory';
const NAME = 'directory-session';

const tokens = new SessionTokens({
  keys: SessionKeys.random(),
  audience: url,
  maxAgeMs,
});
const open = jest.spyOn(tokens, 'open');
const seal = jest.spyOn(tokens, 'seal');

let sessions: Sessions;
let server: Server;

beforeAll(async () => {
  const app = express();
  // As the authenticator does, with a header in place of a ticket.
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

beforeEach(() => {
  // Only the date: the server's timers are real.
  jest.useFakeTimers({
    now: NOW,
    doNotFake: [
      ...(['setTimeout', 'setInterval', 'setImmediate'] as const),
      ...(['clearTimeout', 'clearInterval', 'clearImmediate'] as const),
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
    ],
  });
  jest.clearAllMocks();
  sessions = new Sessions({
    tokens,
    maxAgeMs,
    endpoints: [
      { root: '/fasjson', url: 'https://fasjson.example.org' },
      { root: '', url },
    ],
  });
});
afterEach(() => jest.useRealTimers());

/** Asks as a program, and tells who it was taken for and what it was given. */
async function ask(
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
  const [given] = response.headers['set-cookie'] ?? [];
  return {
    principal: method === 'HEAD' ? null : JSON.parse(chunks.join('')),
    given,
    cookie: given?.split(';')[0],
    maxAge: Number(/Max-Age=(\d+)/.exec(given ?? '')?.[1]),
  };
}

it('opens a cookie once, and does not believe it for longer', async () => {
  const { cookie } = await ask({ 'x-ticket': 'alice@R' });
  for (let times = 0; times < 5; times++) {
    expect(await ask({ cookie })).toEqual({
      principal: 'alice@R',
      maxAge: NaN,
      given: undefined,
      cookie: undefined,
    });
  }
  expect(open).toHaveBeenCalledTimes(1);
  jest.setSystemTime(NOW + maxAgeMs - 1);
  expect(await ask({ cookie })).toMatchObject({ principal: 'alice@R' });
  jest.setSystemTime(NOW + maxAgeMs);
  expect(await ask({ cookie })).toMatchObject({ principal: null });
});

it('gives one token for a minute, with the time that is left', async () => {
  const first = await ask({ 'x-ticket': 'alice@R' });
  expect(first.maxAge).toBe(900);
  jest.setSystemTime(NOW + MINUTE - 1);
  const same = await ask({ 'x-ticket': 'alice@R' });
  expect(same.cookie).toBe(first.cookie);
  expect(same.maxAge).toBe(840);
  expect(seal).toHaveBeenCalledTimes(1);
  const other = await ask({ 'x-ticket': 'bob@R' });
  expect(other.cookie).not.toBe(first.cookie);
  expect(await ask({ cookie: other.cookie })).toMatchObject({
    principal: 'bob@R',
  });
  for (const now of [NOW + MINUTE, NOW - 1]) {
    jest.setSystemTime(now);
    const fresh = await ask({ 'x-ticket': 'alice@R' });
    expect(fresh.cookie).not.toBe(first.cookie);
    expect(fresh.maxAge).toBe(now === NOW - 1 ? 899 : 900);
  }
});

it('gives none to who has a good one of the same principal', async () => {
  const { cookie } = await ask({ 'x-ticket': 'alice@R' });
  expect((await ask({ 'x-ticket': 'alice@R', cookie })).given).toBeUndefined();
  const bob = await ask({ 'x-ticket': 'bob@R', cookie });
  expect(await ask({ cookie: bob.cookie })).toMatchObject({
    principal: 'bob@R',
  });
  jest.setSystemTime(NOW + maxAgeMs);
  expect((await ask({ 'x-ticket': 'alice@R', cookie })).given).toBeDefined();
});

it('is another cookie at another address', async () => {
  const path = '/fasjson/v1/me/';
  const there = await ask({ 'x-ticket': 'alice@R' }, { path });
  expect(there.given).toMatch(/^__Secure-directory-session=.*; Path=\/;/);
  for (const [at, principal] of [
    [path, 'alice@R'],
    ['/fasjson', 'alice@R'],
    ['/fasjson2/v1/me/', null],
    ['/v1/me/', null],
  ] as const) {
    expect(await ask({ cookie: there.cookie }, { path: at })).toMatchObject({
      principal,
    });
  }
});

it('reads, and does nothing else', async () => {
  const { cookie } = await ask({ 'x-ticket': 'alice@R' });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    expect(await ask({ cookie }, { method })).toMatchObject({
      principal: null,
    });
  }
  expect(open).not.toHaveBeenCalled();
  await ask({ cookie }, { method: 'HEAD' });
  expect(open).toHaveBeenCalledTimes(1);
});

it('does not even look at what is too long or from a browser', async () => {
  const { cookie } = await ask({ 'x-ticket': 'alice@R' });
  const requests: Record<string, string>[] = [
    { cookie: `${NAME}=${'A'.repeat(4097)}` },
    { cookie, origin: 'http://localhost' },
    { cookie, 'sec-fetch-mode': 'navigate' },
  ];
  for (const headers of requests) {
    expect(await ask(headers)).toMatchObject({ principal: null });
  }
  expect(open).not.toHaveBeenCalled();
});
