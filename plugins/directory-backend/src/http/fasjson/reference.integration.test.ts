import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUserName } from '@directory-gateway/directory-core';
import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
import type { ClientResponse } from '../../__testUtils__/gateway/GatewayClient';
import { withGateway } from '../../__testUtils__/gateway/withGateway';

jest.setTimeout(600_000);

/** A request to the reference implementation and its response. */
interface RecordedResponse {
  readonly id: number;
  readonly principal: string | null;
  readonly method: string;
  readonly target: string;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string | null;
  readonly status: number;
  readonly body: string | null;
}

const fixtures = join(__dirname, '__fixtures__/reference');

const recordedResponses: readonly RecordedResponse[] = readFileSync(
  join(fixtures, 'responses.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map(line => JSON.parse(line));

/**
 * Statuses of the responses that differ in the fasjson dialect, by the ID of
 * the recorded request. They are read from the tables of the documentation,
 * whose last two columns are the status and the requests.
 */
const documentedDifferences: ReadonlyMap<number, number> = new Map(
  readFileSync(
    join(__dirname, '../../../../../docs/fasjson-differences.md'),
    'utf8',
  )
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(cells => /^\d{3}$/.test(cells.at(-3) ?? ''))
    .flatMap(cells =>
      cells
        .at(-2)!
        .split(',')
        .map((id): [number, number] => [Number(id), Number(cells.at(-3))]),
    ),
);

const REFERENCE = 'http://localhost:8180';

/** A list, as the reference sends it. */
interface ListBody {
  readonly result: readonly { readonly username?: string }[];
  readonly page?: {
    readonly total_results: number;
    readonly page_size: number;
    readonly total_pages: number;
    readonly next_page?: string;
  };
}

/** Invalid names in a whole list of the reference; the gateway omits them. */
const invalidNames = listOf('/v1/users/?PAGE_SIZE=5').filter(
  name => !isUserName(name),
);
const listed = listOf('/v1/users/?PAGE_SIZE=5').length;

const site = withGateway({
  ldif: join(fixtures, 'people-200.ldif'),
  configure: realm => ({
    directory: {
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

const numbered = (recorded: readonly RecordedResponse[]) =>
  recorded.map(each => [each.id, each] as const);

/** The compared parts of a recorded body. */
interface RecordedBody {
  readonly result?: unknown;
  readonly page?: {
    readonly total_results: number;
    readonly total_pages: number;
  };
}

/**
 * Requests whose response differs in the contract dialect, with the reason. The
 * test fails for an entry whose response does not differ.
 */
const explained: Readonly<Record<number, string>> = {
  70: 'a user with an invalid name is not found; the path is known',
  74: 'a user with an invalid name is not found; the path is known',
  207: 'a group with an invalid name is not found; the path is known',
  105: '`*` stands for the other fields; the reference blanks them',
  163: 'a page size of 0 is out of range',
  165: 'a negative page size is out of range',
  168: 'the message for a page size that is not a number differs',
  171: 'the message for an empty page size differs',
  176: 'a page size over 1000 is out of range',
  177: 'a page size over 1000 is out of range',
  181: 'a page size must be plain decimal',
  229: 'an extra trailing slash is not redirected',
  258: 'a missing trailing slash is not redirected',
  279: 'invalid names are omitted',
  295: 'a hidden field does not find a private profile',
  296: 'a hidden field does not find a private profile',
  299: 'a hidden field does not find a private profile',
  308: 'a hidden field does not find a private profile',
  317: '`creation__before` is strict',
  323: '`creation__before` is strict',
  336: 'an unknown search parameter is rejected',
  351: 'a negative page size is out of range',
  374: 'keys of a private profile are hidden; the reference shows them',
  377: 'every mask hides private fields; the reference shows some',
  380: 'the message for an unknown path differs',
};

const reads = recordedResponses.filter(
  ({ method, target, request_body }) =>
    ['GET', 'HEAD'].includes(method) &&
    /^\/v1\/(me|users|groups|search)\b/.test(target) &&
    request_body === null,
);

function nameOf(item: object): string | undefined {
  const { username } = item as { username?: string };
  return username;
}

function parse(body: string | null): RecordedBody | undefined {
  return body ? JSON.parse(body) : undefined;
}

let lockedItems: ReadonlySet<string>;

beforeAll(async () => {
  const users = await site.client.request('/v1/users/?page_size=1000', {
    as: 'alice',
  });
  lockedItems = new Set(
    (users.json as { result: { username: string; locked: boolean }[] }).result
      .filter(({ locked }) => locked)
      .map(({ username }) => username),
  );
});

describe('contract dialect compared with recorded responses of FASJSON', () => {
  it.each(numbered(reads).filter(([id]) => !(id in explained)))(
    'returns the recorded response to request %s',
    async (_id, recorded) => {
      const [ours, theirs] = await compared(recorded);
      expect(ours).toEqual(theirs);
    },
  );

  it.each(numbered(reads).filter(([id]) => id in explained))(
    'differs from the recorded response to request %s for a known reason',
    async (_id, recorded) => {
      const [ours, theirs] = await compared(recorded);
      expect(ours).not.toEqual(theirs);
    },
  );
});

/** Like {@link both}, for the contract dialect. */
async function compared(
  recorded: RecordedResponse,
): Promise<[unknown, unknown]> {
  const response = await send(recorded, recorded.target);
  const theirs = parse(recorded.body);
  if (Array.isArray(theirs?.result) && response.status === 200) {
    return comparedLists(recorded, theirs.result, theirs.page);
  }
  const ours = { ...(response.json as object) } as Record<string, unknown>;
  delete ours.request_id;
  return [
    normalize({ status: response.status, ...ours }),
    normalize({
      status: recorded.status,
      ...(recorded.method === 'HEAD' ? {} : theirs),
    }),
  ];
}

/**
 * Lists of the contract dialect are sorted, contain locked accounts and omit
 * invalid names. Compares whole lists, or only their lengths when the recorded
 * response is one of several pages.
 */
async function comparedLists(
  recorded: RecordedResponse,
  result: readonly object[],
  page: RecordedBody['page'],
): Promise<[unknown, unknown]> {
  const ours = (await wholeList(recorded)).filter(
    item => !lockedItems.has(nameOf(item)!),
  );
  if (page && page.total_pages > 1) {
    const left = recorded.target.startsWith('/v1/users/?')
      ? invalidNames.length
      : 0;
    return [ours.length, page.total_results - left];
  }
  if (page && result.length === 0) {
    return [page.total_results, ours.length];
  }
  return [
    normalize(ours),
    normalize(result.filter(item => !invalidNames.includes(nameOf(item)!))),
  ];
}

async function wholeList(recorded: RecordedResponse): Promise<object[]> {
  const isSearch = recorded.target.startsWith('/v1/search');
  const [path, query] = recorded.target.split('?');
  const parameters = new URLSearchParams(query);
  parameters.delete('page_size');
  parameters.set('page_size', isSearch ? '40' : '1000');
  const items: object[] = [];
  let total = 0;
  let number = 0;
  do {
    number += 1;
    parameters.set('page_number', String(number));
    const response = await send(named(recorded), `${path}?${parameters}`);
    const body = response.json as { result: object[]; total_results?: number };
    items.push(...body.result);
    total = body.total_results ?? items.length;
  } while (items.length < total);
  return items;
}

/** Requests user names when the mask selects no keys. */
function named(recorded: RecordedResponse): RecordedResponse {
  return recorded.request_headers['X-Fields'] === 'nope'
    ? { ...recorded, request_headers: { 'X-Fields': 'username' } }
    : recorded;
}

async function send(
  recorded: RecordedResponse,
  target: string,
): Promise<ClientResponse> {
  const { method, principal, request_headers } = recorded;
  const mask = request_headers['X-Fields'];
  return site.client.request(target, {
    method,
    ...(principal ? { as: principal } : {}),
    headers: mask === undefined ? {} : { 'X-Fields': mask },
  });
}

/** A body without base URLs and deprecated fields, and with sorted lists. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(normalize);
    return items.sort((a, b) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
    );
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(
      ([key]) => key !== 'website' && key !== 'rssurl',
    );
    return Object.fromEntries(
      entries
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, normalize(inner)]),
    );
  }
  return typeof value === 'string'
    ? value.replace(/^http:\/\/localhost:\d+(\/api\/directory)?/, '')
    : value;
}

it('omits only a few names as invalid', () => {
  expect(invalidNames.length).toBeGreaterThan(0);
  expect(invalidNames.length).toBeLessThan(listed / 20);
});

it('documents differences of recorded requests only', () => {
  const ids = new Set(recordedResponses.map(({ id }) => id));
  expect([...documentedDifferences.keys()].filter(id => !ids.has(id))).toEqual(
    [],
  );
});

describe('fasjson dialect compared with recorded responses of FASJSON', () => {
  it.each(
    numbered(recordedResponses).filter(
      ([id]) => !documentedDifferences.has(id),
    ),
  )('returns the recorded response to request %s', async (_id, recorded) => {
    const [ours, theirs] = await both(recorded);
    expect(ours).toEqual(theirs);
  });

  it.each(
    numbered(recordedResponses).filter(([id]) => documentedDifferences.has(id)),
  )(
    'differs from the recorded response to request %s as documented',
    async (_id, recorded) => {
      const [ours, theirs] = await both(recorded);
      expect(ours).not.toEqual(theirs);
      expect(ours).toHaveProperty(
        'status',
        documentedDifferences.get(recorded.id),
      );
    },
  );
});

/** Comparable parts of the gateway's response and of the recorded one. */
async function both(recorded: RecordedResponse): Promise<[unknown, unknown]> {
  const { method, principal, target, request_body: body } = recorded;
  const { Authorization: _ticket, ...headers } = recorded.request_headers;
  const response = await site.client.request(`/fasjson${target}`, {
    method,
    ...(principal ? { as: principal } : {}),
    ...(body === null ? {} : { body }),
    headers,
  });
  const root = `${site.gateway.baseUrl}/api/directory/fasjson`;
  const hasBody = method !== 'HEAD' && Boolean(recorded.body);
  return [
    {
      status: response.status,
      ...(hasBody && comparable(response.text, root)),
    },
    {
      status: recorded.status,
      ...(hasBody && comparable(withoutInvalidNames(recorded), REFERENCE)),
    },
  ];
}

/** A body without volatile keys, and with sorted lists. */
function comparable(text: string, root: string): object {
  const { request_id: _id, reason: _reason, ...body } = JSON.parse(text);
  return unordered(shapeOfPart(withoutRoot(body, root))) as object;
}

/**
 * FASJSON paginates in the order of its server, and its `next_page` drops
 * repeated parameters. For one of several pages, only the totals, the number of
 * items and their keys are compared.
 */
function shapeOfPart(body: Record<string, unknown>): Record<string, unknown> {
  const { page, result } = body as unknown as ListBody;
  if (!page || typeof page !== 'object') {
    return body;
  }
  const { next_page: next, ...counts } = page;
  return {
    ...body,
    page: { ...counts, hasNext: next !== undefined },
    result:
      page.total_pages > 1 ? result.map(item => Object.keys(item)) : result,
  };
}

/** The recorded body without users whose names are invalid. */
function withoutInvalidNames({ body }: RecordedResponse): string {
  const { result, page, ...rest } = JSON.parse(body!) as ListBody;
  if (!Array.isArray(result)) {
    return body!;
  }
  const known = result.filter(
    ({ username }) => !invalidNames.includes(username ?? ''),
  );
  const total =
    page?.total_results === listed
      ? listed - invalidNames.length
      : (page?.total_results ?? 0) - (result.length - known.length);
  return JSON.stringify({
    ...rest,
    result: page && page.total_pages > 1 ? result : known,
    ...(page && {
      page: {
        ...page,
        total_results: total,
        total_pages: Math.ceil(total / page.page_size),
      },
    }),
  });
}

function listOf(target: string): readonly string[] {
  const { body } = recordedResponses.find(
    recorded => recorded.target === target,
  )!;
  return (JSON.parse(body!) as ListBody).result.map(
    ({ username }) => username!,
  );
}

function withoutRoot<T>(body: T, root: string): T {
  return JSON.parse(JSON.stringify(body).replaceAll(root, ''));
}

function unordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .map(unordered)
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, inner]) => [key, unordered(inner)] as const,
    );
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return value;
}
