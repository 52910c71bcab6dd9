import fc from 'fast-check';
import type { MemberItem } from './records';
import { createDirectoryClient } from './createDirectoryClient';
import type { DirectoryClient } from './DirectoryClient';
import { paginate } from './paginate';
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

describe('paginate', () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, index) => `user${index}`);

  /** Serves the names in pages of `page_size`. */
  function serve(all: string[]) {
    server.respond = ({ target }) => {
      const query = new URL(target, 'http://directory').searchParams;
      const page = Number(query.get('page_number'));
      const page_size = Number(query.get('page_size'));
      const result = all
        .slice((page - 1) * page_size, page * page_size)
        .map(username => ({ username, uri: `https://directory/${username}` }));
      return {
        body: JSON.stringify({
          result,
          page,
          page_size,
          total_results: all.length,
        }),
      };
    };
  }

  function members(page_size: number, signal?: AbortSignal) {
    const items: AsyncIterable<MemberItem> = paginate(
      request =>
        client.get('/groups/{groupname}/members/', {
          params: {
            path: { groupname: 'packager' },
            query: { page_number: request.page_number, page_size },
          },
          signal: request.signal,
        }),
      { signal },
    );
    return items;
  }

  async function collect(items: AsyncIterable<MemberItem>) {
    const found: string[] = [];
    for await (const { username } of items) {
      found.push(username);
    }
    return found;
  }

  it('yields every item once and does not fetch pages past the last one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 30 }),
        fc.integer({ min: 1, max: 8 }),
        async (count, pageSize) => {
          server.requests = [];
          serve(names(count));
          expect(await collect(members(pageSize))).toEqual(names(count));
          expect(server.requests).toHaveLength(
            Math.max(1, Math.ceil(count / pageSize)),
          );
        },
      ),
    );
  });

  it('continues after a page with fewer items than its size', async () => {
    const pages = [['a', 'b'], ['c'], ['d']];
    server.respond = ({ target }) => {
      const page = Number(/page_number=(\d+)/.exec(target)![1]);
      const result = pages[page - 1].map(username => ({ username }));
      return {
        body: JSON.stringify({ result, page, page_size: 2, total_results: 5 }),
      };
    };
    expect(await collect(members(2))).toEqual(['a', 'b', 'c', 'd']);
  });

  it('stops at an empty page regardless of the total', async () => {
    server.respond = () => ({
      body: '{"result":[],"page":1,"page_size":2,"total_results":9}',
    });
    expect(await collect(members(2))).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('fetches a page when its first item is read', async () => {
    serve(names(9));
    for await (const { username } of members(3)) {
      if (username === 'user2') {
        break;
      }
    }
    expect(server.requests).toHaveLength(1);
  });

  it("stops with the signal's reason, within and before a page", async () => {
    serve(names(9));
    const controller = new AbortController();
    const reason = new Error('Aborted');
    const found: string[] = [];
    const iterate = async () => {
      for await (const { username } of members(3, controller.signal)) {
        found.push(username);
        if (found.length === 4) {
          controller.abort(reason);
        }
      }
    };
    await expect(iterate()).rejects.toBe(reason);
    expect(found).toEqual(names(4));

    server.requests = [];
    await expect(collect(members(3, AbortSignal.abort(reason)))).rejects.toBe(
      reason,
    );
    expect(server.requests).toHaveLength(0);
  });

  it('aborts a request in progress', async () => {
    const controller = new AbortController();
    serve(names(9));
    const { respond } = server;
    server.respond = sent => {
      controller.abort();
      return respond(sent);
    };
    await expect(collect(members(3, controller.signal))).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('passes an error on', async () => {
    server.respond = () => ({
      status: 404,
      body: '{"message":"Group not found","groupname":"packager","request_id":"r1"}',
    });
    await expect(collect(members(3))).rejects.toMatchObject({
      name: 'DirectoryResponseError',
      body: { groupname: 'packager' },
    });
  });
});
