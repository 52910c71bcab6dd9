import { InputError } from '@backstage/errors';
import { json, Router, type RequestHandler } from 'express';

/**
 * Maximum size of a request body in bytes: that of the catalog and
 * `express.json()`. With a larger limit here, the catalog would still refuse
 * larger bodies.
 */
const MAX_BODY_BYTES = 102_400;
/**
 * Maximum length of a query string in characters. Node.js allows 16 KiB of
 * headers by default; this server allows more only for Kerberos tokens.
 */
const MAX_QUERY_STRING = 16_384;
/** Maximum nesting of objects and lists in a request body or cursor. */
const MAX_DEPTH = 32;

/** Mount path of the catalog, as Express matches it. */
const CATALOG = /^\/api\/+catalog(\/|$)/i;

/** Sizes of a JSON value, over all levels. */
interface Sizes {
  /** Levels of objects and lists. */
  readonly depth: number;
  /** Members of objects. */
  readonly members: number;
  /** Elements of lists. */
  readonly elements: number;
  /** Characters of the longest text, including names of members. */
  readonly text: number;
}

type Limits = Omit<Sizes, 'depth'>;

/** Every condition of a filter causes a subquery for each entity. */
const FILTER_LIMITS: Limits = { members: 100, elements: 1000, text: 1024 };
/** Fields to return, count or sort by. Each field is read from every entity. */
const FIELD_LIMITS: Limits = { members: 100, elements: 50, text: 512 };

/** Limits of the members of a request body or cursor, by name. */
const LIMITS = new Map<string, Limits>([
  ['filter', FILTER_LIMITS],
  ['query', FILTER_LIMITS],
  // The catalog client sends at most 1,000 in a request.
  ['entityRefs', { members: 0, elements: 1000, text: 1024 }],
  ['facets', FIELD_LIMITS],
  ['fields', FIELD_LIMITS],
  ['firstSortFieldValues', FILTER_LIMITS],
  ['fullTextFilter', FIELD_LIMITS],
  ['orderBy', FIELD_LIMITS],
  ['orderFieldValues', FILTER_LIMITS],
  ['orderFields', FIELD_LIMITS],
]);

/**
 * Responds with 400 to requests that are expensive for the catalog: filters
 * that are deeply nested or have too many conditions or values, and too many
 * fields, facets or entity references. The limits are the constants of this
 * file; they apply to query strings, JSON bodies, inputs of actions and
 * cursors, which are unsigned and contain a filter. Requests to other plugins
 * are not checked.
 */
export function guardCatalog(): RequestHandler {
  const router = Router()
    .use((req, _res, next) => {
      const start = req.url.indexOf('?');
      checkQueryString(start < 0 ? '' : req.url.slice(start + 1));
      next();
    })
    .use(json({ limit: MAX_BODY_BYTES }))
    .use((req, _res, next) => {
      // The catalog's parser does not parse a body that was parsed here.
      checkDepth(req.body);
      checkRequest(req.body);
      // Version 2 of the actions API.
      checkRequest(memberOf(req.body, 'input'));
      next();
    });
  return (req, res, next) =>
    CATALOG.test(req.path) ? router(req, res, next) : next();
}

function checkQueryString(query: string): void {
  if (query.length > MAX_QUERY_STRING) {
    throw new InputError(
      `The query string is longer than ${MAX_QUERY_STRING} characters.`,
    );
  }
  const params = new URLSearchParams(query);
  // Express reads `filter[]`, `filter[0]` and `[filter]` as `filter`.
  if ([...params.keys()].some(key => /[[\]]/.test(key))) {
    throw new InputError('Parameter names must not contain brackets.');
  }
  const valuesOf = (name: string) => params.getAll(name);
  const listOf = (name: string) =>
    valuesOf(name).flatMap(value => value.split(','));

  checkRequest({
    filter: valuesOf('filter').map(parseFilter),
    facets: valuesOf('facet'),
    fields: listOf('fields'),
    orderFields: [...valuesOf('order'), ...valuesOf('orderField')],
    fullTextFilter: [
      ...valuesOf('fullTextFilterTerm'),
      ...listOf('fullTextFilterFields'),
    ],
  });
  valuesOf('cursor').forEach(checkCursor);
}

/**
 * Returns the values of a `filter` parameter by key: each key is a condition.
 */
function parseFilter(filter: string): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const statement of filter.split(',')) {
    const [key] = statement.split('=', 1);
    const list = values.get(key.trim()) ?? [];
    list.push(statement.slice(key.length + 1));
    values.set(key.trim(), list);
  }
  return Object.fromEntries(values);
}

/** Checks the members in {@link LIMITS}, and the cursor. */
function checkRequest(request: unknown): void {
  for (const [name, limits] of LIMITS) {
    const sizes = sizesOf(memberOf(request, name));
    for (const [size, description] of [
      ['members', 'conditions'],
      ['elements', 'values'],
      ['text', 'characters in a value'],
    ] as const) {
      if (sizes[size] > limits[size]) {
        throw new InputError(
          `"${name}" has more than ${limits[size]} ${description}.`,
        );
      }
    }
  }
  const cursor = memberOf(request, 'cursor');
  if (typeof cursor === 'string') {
    checkCursor(cursor);
  }
}

/**
 * Checks the request in a cursor, decoded as the catalog decodes it. Malformed
 * cursors are left to the catalog.
 */
function checkCursor(cursor: string): void {
  let request: unknown;
  try {
    request = JSON.parse(Buffer.from(cursor, 'base64').toString('utf8'));
  } catch {
    return;
  }
  checkDepth(request);
  checkRequest(request);
}

function checkDepth(value: unknown): void {
  if (sizesOf(value).depth > MAX_DEPTH) {
    throw new InputError(`The request has more than ${MAX_DEPTH} levels.`);
  }
}

/** Not recursive, because a deeply nested value would overflow the stack. */
function sizesOf(value: unknown): Sizes {
  const sizes = { depth: 0, members: 0, elements: 0, text: 0 };
  const pending = [{ value, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: current, depth } = next;
    if (typeof current === 'string') {
      sizes.text = Math.max(sizes.text, current.length);
    } else if (typeof current === 'object' && current !== null) {
      sizes.depth = Math.max(sizes.depth, depth);
      const entries = Object.entries(current);
      if (Array.isArray(current)) {
        sizes.elements += entries.length;
      } else {
        sizes.members += entries.length;
      }
      for (const [name, inner] of entries) {
        sizes.text = Math.max(sizes.text, name.length);
        pending.push({ value: inner, depth: depth + 1 });
      }
    }
  }
  return sizes;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
