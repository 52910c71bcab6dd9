import express from 'express';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { FileStream, sendFile } from './FileStream';

const MEGABYTE = 'x'.repeat(1024 * 1024);

let server: Server;
let url: string;
let logger: RecordingLogger;
let chunks: () => AsyncIterable<string>;
let failures: unknown[];

beforeAll(async () => {
  const app = express();
  app.use(async (_req, res) => {
    const file = new FileStream({
      contentType: 'text/csv',
      headers: { 'X-Total-Results': '2' },
      chunks: chunks(),
    });
    await sendFile(res, { file, logger }).catch(error => {
      failures.push(error);
      res.status(503).end();
    });
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});
beforeEach(() => {
  logger = new RecordingLogger();
  failures = [];
});

it('sends every chunk, with the headers', async () => {
  chunks = async function* two() {
    yield 'one,';
    yield 'two';
  };
  const response = await fetch(url);
  expect(response.headers.get('x-total-results')).toBe('2');
  expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(await response.text()).toBe('one,two');
});

it('throws an error that occurs before the first chunk', async () => {
  const away = new Error('away');
  // eslint-disable-next-line require-yield -- it fails before
  chunks = async function* none() {
    throw away;
  };
  expect((await fetch(url)).status).toBe(503);
  expect(failures).toEqual([away]);
});

it('closes the connection after a later error', async () => {
  chunks = async function* half() {
    yield 'one,';
    throw new Error('away');
  };
  const read = async () => (await fetch(url)).text();
  await expect(read()).rejects.toThrow(/terminated|fetch failed/);
  await eventually(() =>
    expect(logger.lines).toEqual([expect.stringContaining('away')]),
  );
  expect(failures).toEqual([]);
});

it('reads at the speed of the client and stops when it disconnects', async () => {
  let made = 0;
  let ended = false;
  chunks = async function* endless() {
    try {
      for (;;) {
        made += 1;
        yield MEGABYTE;
      }
    } finally {
      ended = true;
    }
  };
  const reader = new AbortController();
  const response = await fetch(url, { signal: reader.signal });
  await response.body!.getReader().read();
  let before = -1;
  await eventually(() => {
    const isWaiting = made === before;
    before = made;
    expect(isWaiting).toBe(true);
  });
  expect(made).toBeLessThan(100);
  reader.abort();
  await eventually(() => expect(ended).toBe(true));
  expect(made).toBeLessThan(100);
  expect(logger.lines).toEqual([]);
});

it('does not read chunks for HEAD', async () => {
  let isAsked = false;
  chunks = async function* none() {
    isAsked = true;
    yield 'one';
  };
  const response = await fetch(url, { method: 'HEAD' });
  expect(response.headers.get('x-total-results')).toBe('2');
  expect(isAsked).toBe(false);
});
