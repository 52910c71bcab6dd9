import { mockServices } from '@backstage/backend-test-utils';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CursorExpiredError, DirectoryReader } from './DirectoryReader';

/** Calls a reader whose requests all have this response. */
async function readFrom<T>(
  response: { readonly status: number; readonly body: object },
  read: (reader: DirectoryReader, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const server = createServer((_, res) => {
    res.writeHead(response.status, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(response.body));
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
    return await read(reader, new AbortController().signal);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const failure = (status: number, message: string) => ({
  status,
  body: { message, request_id: 'a1' },
});

describe('DirectoryReader', () => {
  const readUser = (status: number, message: string) =>
    readFrom(failure(status, message), (reader, signal) =>
      reader.readUser('alice', signal),
    );

  it('returns undefined when the user does not exist', async () => {
    expect(await readUser(404, 'User not found')).toBeUndefined();
  });

  it('rejects when the directory cannot read the user', async () => {
    await expect(readUser(503, 'Directory unavailable')).rejects.toMatchObject({
      status: 503,
    });
  });

  it('does not take a user of another spelling for the user', async () => {
    const body = { result: { username: 'Alice', locked: true } };
    expect(
      await readFrom({ status: 200, body }, (reader, signal) =>
        reader.readUser('alice', signal),
      ),
    ).toBeUndefined();
  });

  const readChanges = (response: { status: number; body: object }) =>
    readFrom(response, (reader, signal) => reader.readChanges('c1', signal));

  it('returns the users and groups that changes of any kind name', async () => {
    const body = {
      result: [
        { kind: 'user_renamed', username: 'new', old_username: 'old' },
        { kind: 'member_added', groupname: 'staff', username: 'alice' },
        { kind: 'member_removed', groupname: 'all', member_groupname: 'staff' },
        { kind: 'members_changed', groupname: 'everyone' },
        { kind: 'group_of_the_future', groupname: 'b', old_groupname: 'a' },
      ],
      cursor: 'c2',
      has_more: true,
    };
    expect(await readChanges({ status: 200, body })).toEqual({
      keys: new Set([
        ...['user:new', 'user:old', 'user:alice', 'group:staff'],
        ...['group:all', 'group:everyone', 'group:b', 'group:a'],
      ]),
      cursor: 'c2',
      hasMore: true,
    });
  });

  it('reports an expired cursor', async () => {
    await expect(readChanges(failure(410, 'Gone'))).rejects.toThrow(
      CursorExpiredError,
    );
  });

  it('rejects when the change log is unavailable', async () => {
    await expect(
      readChanges(failure(503, 'The change log is not available')),
    ).rejects.toMatchObject({ status: 503 });
  });
});
