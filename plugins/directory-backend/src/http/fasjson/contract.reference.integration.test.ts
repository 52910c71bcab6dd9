import type { Answer } from '../../__testUtils__/gateway/GatewayClient';
import {
  recordedAnswers,
  recordedDirectory,
  type RecordedAnswer,
} from './__testUtils__/recordedResponses';
import { isUserName } from '../../directory/names';
import { withGateway } from '../../__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

/** The parts of the reference's bodies that are looked at. */
interface RecordedBody {
  readonly result?: unknown;
  readonly page?: {
    readonly total_results: number;
    readonly total_pages: number;
  };
}

/**
 * Where the contract's answer is not the reference's, and why. Every row must
 * differ, or it is stale.
 */
const explained: Readonly<Record<number, string>> = {
  70: 'a name that breaks the pattern is no user, not an unknown path',
  74: 'a name that breaks the pattern is no user, not an unknown path',
  207: 'a name that breaks the pattern is no group, not an unknown path',
  105: '`*` stands for the other fields; the reference blanks them',
  163: 'a page size of 0 is out of range',
  165: 'a negative page size is out of range',
  168: 'a page size that is no number is named in words of our own',
  171: 'an empty page size is named in words of our own',
  176: 'a page size over 1000 is out of range',
  177: 'a page size over 1000 is out of range',
  181: 'a page size is plain decimal',
  229: 'an extra trailing slash is answered directly',
  258: 'a missing trailing slash is answered directly',
  279: 'names that break the pattern are left out',
  295: 'a hidden field does not find a private profile',
  296: 'a hidden field does not find a private profile',
  299: 'a hidden field does not find a private profile',
  308: 'a hidden field does not find a private profile',
  317: '`creation__before` is strict',
  323: '`creation__before` is strict',
  336: 'an unknown search parameter is rejected',
  351: 'a negative page size is out of range',
  374: 'keys of a private profile are hidden; the reference shows them',
  377: 'every mask hides what is private; the reference forgets to',
  380: 'an unknown path is described in words of our own',
};

const reads = recordedAnswers.filter(
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

/** The served names in the directory that break the pattern of names. */
const brokenNames = reads
  .filter(({ target }) => target.startsWith('/v1/users/?PAGE_SIZE'))
  .flatMap(({ body }) => parse(body)!.result as object[])
  .map(nameOf)
  .filter((name): name is string => name !== undefined && !isUserName(name));

const site = withGateway({ ldif: recordedDirectory });
let lockedItems: ReadonlySet<string>;

beforeAll(async () => {
  const users = await site.client.ask('/v1/users/?page_size=1000', {
    as: 'alice',
  });
  lockedItems = new Set(
    (users.json as { result: { username: string; locked: boolean }[] }).result
      .filter(({ locked }) => locked)
      .map(({ username }) => username),
  );
});

const numbered = reads.map(recorded => [recorded.id, recorded] as const);

describe('what the reference answered on this directory', () => {
  it.each(numbered.filter(([id]) => !(id in explained)))(
    'is our answer to request %s',
    async (_id, recorded) => {
      const [ours, theirs] = await compared(recorded);
      expect(ours).toEqual(theirs);
    },
  );

  it.each(numbered.filter(([id]) => id in explained))(
    'is not our answer to request %s, for a reason',
    async (_id, recorded) => {
      const [ours, theirs] = await compared(recorded);
      expect(ours).not.toEqual(theirs);
    },
  );
});

/** Our answer and the reference's, with what no client compares left out. */
async function compared(recorded: RecordedAnswer): Promise<[unknown, unknown]> {
  const answer = await ask(recorded, recorded.target);
  const theirs = parse(recorded.body);
  if (Array.isArray(theirs?.result) && answer.status === 200) {
    return comparedLists(recorded, theirs.result, theirs.page);
  }
  const ours = { ...(answer.json as object) } as Record<string, unknown>;
  delete ours.request_id;
  return [
    normalize({ status: answer.status, ...ours }),
    normalize({
      status: recorded.status,
      ...(recorded.method === 'HEAD' ? {} : theirs),
    }),
  ];
}

/**
 * Lists differ by rule: ours have an order, show locked accounts, and leave
 * out names that break the pattern. So whole lists are compared, or only their
 * lengths where the reference was asked for one page of several.
 */
async function comparedLists(
  recorded: RecordedAnswer,
  result: readonly object[],
  page: RecordedBody['page'],
): Promise<[unknown, unknown]> {
  const ours = (await wholeList(recorded)).filter(
    item => !lockedItems.has(nameOf(item)!),
  );
  if (page && page.total_pages > 1) {
    const left = recorded.target.startsWith('/v1/users/?')
      ? brokenNames.length
      : 0;
    return [ours.length, page.total_results - left];
  }
  if (page && result.length === 0) {
    return [page.total_results, ours.length];
  }
  return [
    normalize(ours),
    normalize(result.filter(item => !brokenNames.includes(nameOf(item)!))),
  ];
}

async function wholeList(recorded: RecordedAnswer): Promise<object[]> {
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
    const answer = await ask(named(recorded), `${path}?${parameters}`);
    const body = answer.json as { result: object[]; total_results?: number };
    items.push(...body.result);
    total = body.total_results ?? items.length;
  } while (items.length < total);
  return items;
}

/** Asks for names where the mask leaves none to count by. */
function named(recorded: RecordedAnswer): RecordedAnswer {
  return recorded.request_headers['X-Fields'] === 'nope'
    ? { ...recorded, request_headers: { 'X-Fields': 'username' } }
    : recorded;
}

async function ask(recorded: RecordedAnswer, target: string): Promise<Answer> {
  const { method, principal, request_headers } = recorded;
  const mask = request_headers['X-Fields'];
  return site.client.ask(target, {
    method,
    ...(principal ? { as: principal } : {}),
    headers: mask === undefined ? {} : { 'X-Fields': mask },
  });
}

/** Without base URLs, the dialect's old fields, and the order of lists. */
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
