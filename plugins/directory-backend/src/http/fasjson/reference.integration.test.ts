import { documentedDifferences } from './__testUtils__/documentedDifferences';
import {
  recordedAnswers,
  recordedDirectory,
  type RecordedAnswer,
} from './__testUtils__/recordedResponses';
import { isUserName } from '../../directory/names';
import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../../__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

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

/** Names that no list of ours has, as one whole list of the reference has them. */
const strangeNames = listOf('/v1/users/?PAGE_SIZE=5').filter(
  name => !isUserName(name),
);
const everybody = listOf('/v1/users/?PAGE_SIZE=5').length;

const site = withGateway({
  ldif: recordedDirectory,
  configure: realm => ({
    directory: {
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

const numbered = recordedAnswers.map(
  recorded => [recorded.id, recorded] as const,
);

it('leaves out the few names that are none', () => {
  expect(strangeNames.length).toBeGreaterThan(0);
  expect(strangeNames.length).toBeLessThan(everybody / 20);
});

it('has every documented difference among the recorded requests', () => {
  const ids = new Set(recordedAnswers.map(({ id }) => id));
  expect([...documentedDifferences.keys()].filter(id => !ids.has(id))).toEqual(
    [],
  );
});

describe('what FASJSON answered on this directory', () => {
  it.each(numbered.filter(([id]) => !documentedDifferences.has(id)))(
    'is our answer to request %s',
    async (_id, recorded) => {
      const [ours, theirs] = await both(recorded);
      expect(ours).toEqual(theirs);
    },
  );

  it.each(numbered.filter(([id]) => documentedDifferences.has(id)))(
    'is not our answer to request %s, as documented',
    async (_id, recorded) => {
      const [ours, theirs] = await both(recorded);
      expect(ours).not.toEqual(theirs);
      expect(ours).toHaveProperty(
        'status',
        documentedDifferences.get(recorded.id)!.status,
      );
    },
  );
});

/** Our answer and the reference's. */
async function both(recorded: RecordedAnswer): Promise<[unknown, unknown]> {
  const { method, principal, target, request_body: body } = recorded;
  const { Authorization: _ticket, ...headers } = recorded.request_headers;
  const answer = await site.client.ask(`/fasjson${target}`, {
    method,
    ...(principal ? { as: principal } : {}),
    ...(body === null ? {} : { body }),
    headers,
  });
  const root = `${site.gateway.baseUrl}/api/directory/fasjson`;
  const hasBody = method !== 'HEAD' && Boolean(recorded.body);
  return [
    { status: answer.status, ...(hasBody && comparable(answer.text, root)) },
    {
      status: recorded.status,
      ...(hasBody && comparable(withoutStrangers(recorded), REFERENCE)),
    },
  ];
}

/** A body without what no client compares, and its lists without an order. */
function comparable(text: string, root: string): object {
  const { request_id: _id, reason: _reason, ...body } = JSON.parse(text);
  return unordered(shapeOfPart(withoutRoot(body, root))) as object;
}

/**
 * The reference pages in the order of its server, and its `next_page` forgets
 * repeated parameters: of one page of several the keys of the items, the
 * number of the items and the totals are looked at.
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

/** The reference's answer as if nobody had a name that is none. */
function withoutStrangers({ body }: RecordedAnswer): string {
  const { result, page, ...rest } = JSON.parse(body!) as ListBody;
  if (!Array.isArray(result)) {
    return body!;
  }
  const known = result.filter(
    ({ username }) => !strangeNames.includes(username ?? ''),
  );
  const total =
    page?.total_results === everybody
      ? everybody - strangeNames.length
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
  const { body } = recordedAnswers.find(
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
