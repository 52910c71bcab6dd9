import { InputError } from '@backstage/errors';
import { json, Router, type Request, type RequestHandler } from 'express';
import {
  isEntityFilter,
  isPermissionItem,
  isPredicate,
  isSettingItem,
} from './inputShapes';

/**
 * Maximum size of a request body in bytes: that of the limited plugins and of
 * `express.json()`. With a larger limit here, they would still refuse larger
 * bodies.
 */
const MAX_BODY_BYTES = 102_400;
/**
 * Maximum length of a query string in characters. Node.js allows 16 KiB of
 * headers by default; this server allows more only for Kerberos tokens.
 */
const MAX_QUERY_STRING = 16_384;
/** Maximum nesting of objects and lists in a request body or cursor. */
const MAX_DEPTH = 32;

/*
 * Paths as Express matches them: case-insensitively, and with repeated slashes.
 */
const CATALOG = /^\/api\/+catalog(\/|$)/i;
const SEARCH = /^\/api\/+search(\/|$)/i;
const PERMISSION = /^\/api\/+permission\//i;
const USER_SETTINGS = /^\/api\/+user-settings\//i;
/**
 * Plugins and routes that parse or validate a body before they authorize the
 * caller. The plugins have no routes for larger bodies.
 */
const LIMITED =
  /^\/api\/+((catalog|notifications|permission|search|user-settings)(\/|$)|[^/]+\/+\.(backstage|well-known)\/)/i;
const ACTION = /^\/api\/+(?!directory\/)[^/]+\/+\.backstage\/+actions\//i;

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
  /** Whether a text contains NUL. */
  readonly hasNul: boolean;
}

type Limits = Pick<Sizes, 'members' | 'elements' | 'text'>;

/** Every condition of a filter causes a subquery for each entity. */
const FILTER_LIMITS: Limits = { members: 100, elements: 1000, text: 1024 };
/** Fields to return, count or sort by. Each field is read from every entity. */
const FIELD_LIMITS: Limits = { members: 100, elements: 50, text: 512 };
/** The catalog needs milliseconds to read hundreds of segments in an entity. */
const MAX_SEGMENTS = 16;

/** Lists whose elements are validated, authorized or stored one by one. */
const LIST_LIMITS: Limits = { members: 5000, elements: 500, text: 4096 };
/** Conditions of a permission may repeat all groups of a user in each item. */
const ITEM_LIMITS: Limits = { members: 10_000, elements: 10_000, text: 4096 };
const MAX_ITEMS = 500;
/** An entity in an input is YAML, whose parser needs quadratic time. */
const ACTION_LIMITS: Limits = { members: 1000, elements: 1000, text: 4096 };

/** Limits of the members of a request body or cursor, by name. */
const LIMITS = new Map<string, Limits>([
  ['filter', FILTER_LIMITS],
  ['query', FILTER_LIMITS],
  // The catalog client sends at most 1,000 in a request.
  ['entityRefs', { members: 0, elements: 1000, text: 1024 }],
  ['channels', LIST_LIMITS],
  ['facets', FIELD_LIMITS],
  ['fields', FIELD_LIMITS],
  ['filters', FILTER_LIMITS],
  ['firstSortFieldValues', FILTER_LIMITS],
  ['fullTextFilter', FIELD_LIMITS],
  ['ids', LIST_LIMITS],
  ['items', ITEM_LIMITS],
  ['orderBy', FIELD_LIMITS],
  ['orderFieldValues', FILTER_LIMITS],
  ['orderFields', FIELD_LIMITS],
]);

/**
 * Responds with 400 to requests with input that would occupy the event loop
 * before Backstage has authorized the caller, or that is expensive for the
 * catalog or the search engine: deep nesting, too many conditions, values,
 * fields, facets, entity references or items, long inputs of actions, search
 * terms with long words, and NUL. The limits are the constants of this file; they
 * apply to query strings, JSON bodies, inputs of actions and cursors, which are
 * unsigned and contain a filter. Other routes of other plugins are not limited.
 */
export function guardInput(): RequestHandler {
  const router = Router()
    .use((req, _res, next) => {
      rejectNul(req.url.includes('%00'));
      const start = req.url.indexOf('?');
      checkQueryString(req, start < 0 ? '' : req.url.slice(start + 1));
      next();
    })
    .use(json({ limit: MAX_BODY_BYTES }))
    .use((req, _res, next) => {
      // The plugin's parser does not parse a body that was parsed here.
      checkBody(req);
      next();
    });
  return (req, res, next) =>
    LIMITED.test(req.path) ? router(req, res, next) : next();
}

function checkBody({ path, body }: Request): void {
  checkDepth(body);
  // Version 2 of the actions API wraps the input.
  for (const input of [body, memberOf(body, 'input')]) {
    checkRequest(input);
    if (CATALOG.test(path)) {
      checkShape(input);
    }
    if (SEARCH.test(path)) {
      checkSearch(memberOf(input, 'term'), memberOf(input, 'filters'));
    }
  }
  const items = memberOf(body, 'items');
  if (Array.isArray(items)) {
    if (PERMISSION.test(path)) {
      requireShape('items', items.every(isPermissionItem));
    } else if (USER_SETTINGS.test(path)) {
      requireShape('items', items.every(isSettingItem));
    }
  }
  if (ACTION.test(path)) {
    checkSizes('input', body, ACTION_LIMITS);
  }
}

/**
 * Limits of a search term. Lunr, the search engine without PostgreSQL, compares
 * each word with two errors allowed, which takes a second for 100 letters, and
 * expands asterisks.
 */
const MAX_TERM = 100;
const MAX_WORDS = 20;
const MAX_WORD = 40;

function checkSearch(term: unknown, filters: unknown): void {
  const text = typeof term === 'string' ? term : '';
  // Lunr separates words at white space and hyphens.
  const words = text.split(/[\s-]+/);
  const asterisks = `${text}${JSON.stringify(filters)}`.split('*').length - 1;
  if (
    text.length > MAX_TERM ||
    words.length > MAX_WORDS ||
    words.some(word => word.length > MAX_WORD) ||
    asterisks > 1
  ) {
    throw new InputError(
      `A search has at most ${MAX_TERM} characters, ${MAX_WORDS} words of ${MAX_WORD} characters, and one asterisk.`,
    );
  }
}

function checkQueryString({ path }: Request, query: string): void {
  if (query.length > MAX_QUERY_STRING) {
    throw new InputError(
      `The query string is longer than ${MAX_QUERY_STRING} characters.`,
    );
  }
  // Express does not decode a parameter with another encoding, whose value would
  // therefore not be the one that is checked here.
  requireShape('query string', isDecodable(query));
  const params = new URLSearchParams(query);
  if (SEARCH.test(path)) {
    // Express reads `term[]`, `term[0]` and `[term]` as `term`.
    const isTerm = (name: string) => name.split(/[[\]]+/).includes('term');
    const terms = [...params].filter(([name]) => isTerm(name));
    checkSearch(
      terms.map(([, value]) => value).join(' '),
      [...params].filter(([name]) => !isTerm(name)),
    );
  }
  if (!CATALOG.test(path)) {
    return;
  }
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
    checkSizes(name, memberOf(request, name), limits);
  }
  const fields = memberOf(request, 'fields');
  if (
    Array.isArray(fields) &&
    fields.some(field => String(field).split('.').length > MAX_SEGMENTS)
  ) {
    throw new InputError(
      `A field has more than ${MAX_SEGMENTS} segments separated by dots.`,
    );
  }
  const items = memberOf(request, 'items');
  if (Array.isArray(items) && items.length > MAX_ITEMS) {
    throw new InputError(`"items" has more than ${MAX_ITEMS} values.`);
  }
  const cursor = memberOf(request, 'cursor');
  if (typeof cursor === 'string') {
    checkCursor(cursor);
  }
}

function checkSizes(name: string, value: unknown, limits: Limits): void {
  const sizes = sizesOf(value);
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

/**
 * Checks the request in a cursor, decoded as the catalog decodes it. Malformed
 * cursors are left to the catalog.
 */
function checkCursor(cursor: string): void {
  // The catalog ignores other characters.
  requireShape('cursor', /^[A-Za-z0-9+/_=-]*$/.test(cursor));
  let request: unknown;
  try {
    request = JSON.parse(Buffer.from(cursor, 'base64').toString('utf8'));
  } catch {
    return;
  }
  checkDepth(request);
  checkRequest(request);
  checkShape(request);
}

/** Checks the query and the filter of a catalog request. */
function checkShape(request: unknown): void {
  const query = memberOf(request, 'query');
  requireShape('query', query === undefined || isPredicate(query));
  const filter = memberOf(request, 'filter');
  requireShape('filter', filter === undefined || isEntityFilter(filter));
}

/** @throws InputError if a part of a request does not have its shape. */
function requireShape(name: string, hasShape: boolean): void {
  if (!hasShape) {
    throw new InputError(`The ${name} of the request is malformed.`);
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function checkDepth(value: unknown): void {
  const { depth, hasNul } = sizesOf(value);
  if (depth > MAX_DEPTH) {
    throw new InputError(`The request has more than ${MAX_DEPTH} levels.`);
  }
  rejectNul(hasNul);
}

/** PostgreSQL does not store NUL: the plugins would return 500. */
function rejectNul(hasNul: boolean): void {
  if (hasNul) {
    throw new InputError('The request contains NUL.');
  }
}

/** Not recursive, because a deeply nested value would overflow the stack. */
function sizesOf(value: unknown): Sizes {
  const sizes = { depth: 0, members: 0, elements: 0, text: 0, hasNul: false };
  const pending = [{ value, depth: 1 }];
  const addText = (text: string) => {
    sizes.text = Math.max(sizes.text, text.length);
    sizes.hasNul ||= text.includes('\0');
  };
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: current, depth } = next;
    if (typeof current === 'string') {
      addText(current);
    } else if (typeof current === 'object' && current !== null) {
      sizes.depth = Math.max(sizes.depth, depth);
      const inner: unknown[] = Object.values(current);
      if (Array.isArray(current)) {
        sizes.elements += inner.length;
      } else {
        sizes.members += inner.length;
        Object.keys(current).forEach(addText);
      }
      for (const each of inner) {
        if (typeof each === 'string' || typeof each === 'object') {
          pending.push({ value: each, depth: depth + 1 });
        }
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
