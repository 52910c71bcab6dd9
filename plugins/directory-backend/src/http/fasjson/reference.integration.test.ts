import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUserName } from '@directory-gateway/directory-core';
import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
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
