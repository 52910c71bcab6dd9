import { mockServices } from '@backstage/backend-test-utils';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DirectoryReader } from './DirectoryReader';

/** Reads a user from a server that returns this error. */
async function readUserFrom(error: { status: number; message: string }) {
  const { status, message } = error;
  const server = createServer((_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ message, request_id: 'a1' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reader = new DirectoryReader({
    auth: mockServices.auth(),
    discovery: mockServices.discovery.mock({
      getBaseUrl: async () => `http://127.0.0.1:${port}/api/directory`,
    }),
    maxMembers: 10,
  });
  try {
    return await reader.readUser('alice', new AbortController().signal);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('DirectoryReader', () => {
  it('returns undefined when the user does not exist', async () => {
    const error = { status: 404, message: 'User not found' };
    expect(await readUserFrom(error)).toBeUndefined();
  });

  it('rejects when the directory cannot read the user', async () => {
    const error = { status: 503, message: 'Directory unavailable' };
    await expect(readUserFrom(error)).rejects.toMatchObject(error);
  });
});
