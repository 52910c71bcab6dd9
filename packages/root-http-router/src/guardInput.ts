import { InputError } from '@backstage/errors';
import { json, Router, type RequestHandler } from 'express';
import { isEntityFilter, isPermissionItem, isPredicate } from './inputShapes';

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
/** Maximum nesting of objects and lists in a request. */
const MAX_DEPTH = 32;
/** Members of all objects, or elements of all lists, in a request body. */
const MAX_VALUES = 10_000;
/** Every condition of a filter causes a subquery for each entity. */
const MAX_CONDITIONS = 100;
/** Facets, or fields to return or sort by, each of which is read from every entity. */
const MAX_FIELDS = 50;
/** The catalog needs milliseconds to read hundreds of segments in an entity. */
const MAX_SEGMENTS = 16;
/** Items are validated, authorized or stored one by one. */
const MAX_ITEMS = 500;
/** Lunr compares each word with two errors allowed: a second for 100 letters. */
const MAX_WORD = 40;
/** An entity in an input is YAML, whose parser needs quadratic time. */
const MAX_INPUT = { members: 1000, elements: 1000, text: 4096 };

/*
 * Paths as Express matches them: case-insensitively, and with repeated slashes.
 */
const CATALOG = /^\/api\/+catalog(\/|$)/i;
const SEARCH = /^\/api\/+search(\/|$)/i;
const PERMISSION = /^\/api\/+permission\//i;
/**
 * Plugins and routes that parse or validate a body before they authorize the
 * caller. The plugins have no routes for larger bodies.
 */
const LIMITED =
  /^\/api\/+((catalog|notifications|permission|search|user-settings)(\/|$)|[^/]+\/+\.(backstage|well-known)\/)/i;
const ACTION = /^\/api\/+(?!directory\/)[^/]+\/+\.backstage\/+actions\//i;

/** Parameters and members with names of fields. */
const FIELDS = ['facet', 'facets', 'fields', 'fullTextFilterFields'];
const SORT_FIELDS = ['order', 'orderBy', 'orderField', 'orderFields'];

/**
 * Responds with 400 to requests with input that would occupy the event loop
 * before Backstage has authorized the caller, or that is expensive for the
 * catalog or the search engine: deep nesting, malformed queries, too many
 * conditions, fields, facets or items, long inputs of actions, search terms with
 * long words, and NUL. The limits are the constants of this file; they apply to
 * query strings, JSON bodies, inputs of actions and cursors, which are unsigned
 * and contain a filter. Other routes of other plugins are not limited.
 */
export function guardInput(): RequestHandler {
  const router = Router()
    .use((req, _res, next) => {
      const start = req.url.indexOf('?');
      if (start >= 0 && req.url.length - start > MAX_QUERY_STRING) {
        throw tooMany('the query string', MAX_QUERY_STRING, 'characters');
      }
      rejectNul(req.url.includes('%00'));
      checkRequest(req.path, req.query, conditionsOfFilter);
      next();
    })
    .use(json({ limit: MAX_BODY_BYTES }))
    .use((req, _res, next) => {
      // The plugin's parser does not parse a body that was parsed here.
      checkBody(req.path, req.body);
      next();
    });
  return (req, res, next) =>
    LIMITED.test(req.path) ? router(req, res, next) : next();
}

function checkBody(path: string, body: unknown): void {
  checkDepth(body);
  const { members, elements, text } = measure(body);
  limit('body', Math.max(members, elements), MAX_VALUES, 'values');
  // Version 2 of the actions API wraps the input.
  for (const input of [body, memberOf(body, 'input')]) {
    checkRequest(path, input, value => measure(value).members);
  }
  const items = memberOf(body, 'items');
  if (Array.isArray(items)) {
    limit('items', items.length, MAX_ITEMS, 'values');
    requireShape(
      'items',
      !PERMISSION.test(path) || items.every(isPermissionItem),
    );
  }
  if (ACTION.test(path)) {
    limit('input', members, MAX_INPUT.members, 'members');
    limit('input', elements, MAX_INPUT.elements, 'values');
    limit('input', text, MAX_INPUT.text, 'characters in a value');
  }
}

/** @param countConditions - counts the conditions of a filter or query */
function checkRequest(
  path: string,
  request: unknown,
  countConditions: (value: unknown) => number,
): void {
  if (SEARCH.test(path)) {
    checkSearch(memberOf(request, 'term'), memberOf(request, 'filters'));
  }
  if (!CATALOG.test(path)) {
    return;
  }
  for (const name of ['filter', 'query']) {
    const count = countConditions(memberOf(request, name));
    limit(name, count, MAX_CONDITIONS, 'conditions');
  }
  for (const name of [...FIELDS, ...SORT_FIELDS]) {
    const value = memberOf(request, name);
    const fields = textsIn(value).flatMap(text => text.split(','));
    limit(name, fields.length, MAX_FIELDS, 'values');
    const segments = fields.map(field => field.split('.').length);
    limit(name, Math.max(0, ...segments), MAX_SEGMENTS, 'segments in a field');
  }
  textsIn(memberOf(request, 'cursor')).forEach(checkCursor);
  const query = memberOf(request, 'query');
  requireShape('query', query === undefined || isPredicate(query));
}

function checkSearch(term: unknown, filters: unknown): void {
  const text = typeof term === 'string' ? term : '';
  const asterisks = `${text}${JSON.stringify(filters)}`.split('*').length - 1;
  // Lunr separates words at white space and hyphens, and expands asterisks.
  const isLong = text.split(/[\s-]+/).some(word => word.length > MAX_WORD);
  if (isLong || asterisks > 1) {
    throw new InputError(
      `A search has at most ${MAX_WORD} characters in a word and one asterisk.`,
    );
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
  const filter = memberOf(request, 'filter');
  requireShape('filter', filter === undefined || isEntityFilter(filter));
  checkRequest('/api/catalog', request, value => measure(value).members);
}

/** Counts the conditions of a `filter` parameter: each key is one. */
function conditionsOfFilter(filter: unknown): number {
  const keysOf = (text: string) =>
    text.split(',').map(statement => statement.split('=', 1)[0].trim());
  return textsIn(filter).reduce(
    (count, text) => count + new Set(keysOf(text)).size,
    0,
  );
}

function limit(name: string, count: number, max: number, what: string): void {
  if (count > max) {
    throw tooMany(`"${name}"`, max, what);
  }
}

function tooMany(subject: string, max: number, what: string): InputError {
  return new InputError(
    `The request is too large: ${subject} has more than ${max} ${what}.`,
  );
}

/** @throws InputError if a part of a request does not have its shape. */
function requireShape(name: string, hasShape: boolean): void {
  if (!hasShape) {
    throw new InputError(`The ${name} of the request is malformed.`);
  }
}

function checkDepth(value: unknown): void {
  const { depth, hasNul } = measure(value);
  if (depth > MAX_DEPTH) {
    throw tooMany('it', MAX_DEPTH, 'levels');
  }
  rejectNul(hasNul);
}

/** PostgreSQL does not store NUL: the plugins would return 500. */
function rejectNul(hasNul: boolean): void {
  if (hasNul) {
    throw new InputError('The request contains NUL.');
  }
}

/**
 * Measures a JSON value over all levels: levels of objects and lists, members
 * of objects, elements of lists, and characters of the longest text. Not
 * recursive, because a deeply nested value would overflow the stack.
 */
function measure(root: unknown) {
  const sizes = { depth: 0, members: 0, elements: 0, text: 0, hasNul: false };
  const pending = [{ value: root, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') {
      sizes.text = Math.max(sizes.text, value.length);
      sizes.hasNul ||= value.includes('\0');
    } else if (typeof value === 'object' && value !== null) {
      sizes.depth = Math.max(sizes.depth, depth);
      const inner: unknown[] = Object.values(value);
      if (Array.isArray(value)) {
        sizes.elements += inner.length;
      } else {
        sizes.members += inner.length;
        inner.push(...Object.keys(value));
      }
      for (const each of inner) {
        pending.push({ value: each, depth: depth + 1 });
      }
    }
  }
  return sizes;
}

/** Returns the texts in a value, over all levels. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(textsIn)
    : [];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
