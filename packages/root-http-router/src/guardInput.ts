import { InputError } from '@backstage/errors';
import { json, Router, type RequestHandler } from 'express';

/** Node.js allows 16 KiB of headers; this server more, but only for tokens. */
const MAX_URL = 16_384;
/** The plugins' own parsers do not accept larger bodies. */
const MAX_BODY_BYTES = 102_400;
/** Entities in inputs of actions are YAML, whose parser needs quadratic time. */
const MAX_ACTION_BYTES = 4096;
/** Levels of objects and lists, or of a field such as `metadata.name`. */
const MAX_LEVELS = 32;
/** Names and values of a body, which are validated one by one. */
const MAX_VALUES = 10_000;
/** Names and values of a query. The database evaluates each condition. */
const MAX_CONDITIONS = 300;
/** Permissions of a batch: each malformed one is described by a long text. */
const MAX_PERMISSIONS = 500;
/**
 * Lunr compares words of the term with two errors allowed, which takes a second
 * for 100 letters. Words end at white space and hyphens.
 */
const SLOW_TERM = /[^\s-]{41}|.{501}/s;
/** Lunr expands asterisks, also in filters. */
const TWO_ASTERISKS = /\*.*\*/s;
/** A field in a predicate of the catalog, as opposed to an operator. */
const FIELD = /^(?:[^$\n\r].*)?$/;

/**
 * Parameters and members of a catalog request with conditions or fields, which
 * the catalog separates at commas and dots.
 */
const CONDITIONS = [
  ...['facet', 'facets', 'fields', 'filter', 'fullTextFilterFields'],
  ...['orderBy', 'orderField', 'query'],
];

/* Paths as Express matches them: case-insensitively, with repeated slashes. */
const SEARCH = /^\/api\/+search(\/|$)/i;
const PERMISSIONS = /^\/api\/+permission(\/|$)/i;
const ACTION = /^\/api\/+(?!directory\/)[^/]+\/+\.backstage\/+actions\//i;
/** Routes that read or validate input before they authorize the caller. */
const LIMITED =
  /^\/api\/+((catalog|notifications|permission|search|user-settings)(\/|$)|[^/]+\/+\.(backstage|well-known)\/)/i;

/**
 * Responds with 400 to input that would occupy the event loop or the database
 * before Backstage has authorized the caller, or that is expensive for the
 * catalog or the search engine. The limits are the constants of this file; they
 * apply to query strings, JSON bodies and cursors, which are unsigned. Other
 * routes of other plugins are not limited.
 */
export function guardInput(): RequestHandler {
  const parseBody = json({ limit: MAX_BODY_BYTES });
  const parseAction = json({ limit: MAX_ACTION_BYTES });
  const router = Router()
    .use((req, res, next) => {
      if (req.url.length > MAX_URL || req.url.includes('%00')) {
        throw new InputError('The URL is too long or contains NUL.');
      }
      measure(req.query, MAX_CONDITIONS);
      checkQuery(req.path, req.query);
      // A plugin does not parse a body again that was parsed here.
      (ACTION.test(req.path) ? parseAction : parseBody)(req, res, next);
    })
    .use((req, _res, next) => {
      measure(req.body, MAX_VALUES);
      checkQuery(req.path, req.body);
      checkPermissions(req.path, req.body);
      next();
    });
  return (req, res, next) =>
    LIMITED.test(req.path) ? router(req, res, next) : next();
}

/** Checks a query of the catalog, including its cursor, or a search. */
function checkQuery(path: string, input: Record<string, unknown>): void {
  if (SEARCH.test(path)) {
    const { term, input: ofAction } = input;
    const terms = measure([term, memberOf(ofAction, 'term')], MAX_CONDITIONS);
    const texts = measure(input, MAX_CONDITIONS);
    if (
      SLOW_TERM.test(terms.join('\n')) ||
      TWO_ASTERISKS.test(texts.join('\n'))
    ) {
      throw new InputError(
        'A search has at most 500 characters, 40 in a word, and one asterisk.',
      );
    }
    return;
  }
  const inputs = [input, memberOf(input, 'input')];
  const encoded = inputs.map(part => memberOf(part, 'cursor'));
  const cursors = measure(encoded, MAX_CONDITIONS).map(decodeCursor);
  const conditions = inputs.map(part =>
    CONDITIONS.map(name => memberOf(part, name)),
  );
  const texts = measure([...conditions, ...cursors], MAX_CONDITIONS);
  const parts = texts.flatMap(text => text.split(','));
  if (
    parts.length > MAX_CONDITIONS ||
    parts.some(part => part.split('.').length > MAX_LEVELS)
  ) {
    throw tooLarge(MAX_CONDITIONS);
  }
  for (const part of [...inputs, ...cursors]) {
    const query = memberOf(part, 'query');
    if (typeof query === 'object' && !isPredicate(query)) {
      throw new InputError('The query is malformed.');
    }
  }
  for (const cursor of cursors) {
    const filter = memberOf(cursor, 'filter');
    if (filter !== undefined && !isEntityFilter(filter)) {
      throw new InputError('The cursor is malformed.');
    }
  }
}

/** Checks the number of permissions in a request for decisions. */
function checkPermissions(path: string, body: unknown): void {
  const items = memberOf(body, 'items');
  if (
    PERMISSIONS.test(path) &&
    Array.isArray(items) &&
    items.length > MAX_PERMISSIONS
  ) {
    throw tooLarge(MAX_PERMISSIONS);
  }
}

/**
 * Returns whether a value is a predicate, as the catalog defines it. The
 * catalog describes each alternative of each part of another value, in a text
 * of megabytes.
 *
 * @param isElement - whether it applies to the elements of a list, which can
 * also be compared with a scalar
 */
export function isPredicate(value: unknown, isElement = false): boolean {
  if (isScalar(value)) {
    return isElement;
  }
  const [name, operand] = onlyMemberOf(value);
  switch (name) {
    case '$all':
    case '$any':
      return isListOf(operand, part => isPredicate(part, isElement));
    case '$not':
      return isPredicate(operand, isElement);
    default:
      return (
        isObject(value) &&
        Object.entries(value).every(
          ([field, comparison]) =>
            FIELD.test(field) && isComparison(comparison),
        )
      );
  }
}

/** One valid operator is enough: the catalog ignores the other members. */
function isComparison(value: unknown): boolean {
  const operand = (name: string) =>
    isObject(value) ? memberOf(value, name) : undefined;
  return (
    isScalar(value) ||
    typeof operand('$exists') === 'boolean' ||
    isListOf(operand('$in'), isScalar) ||
    isPredicate(operand('$contains'), true) ||
    typeof operand('$hasPrefix') === 'string'
  );
}

/** Returns whether a filter of a cursor has the form that the catalog writes. */
function isEntityFilter(filter: unknown): boolean {
  if (isObject(filter) && 'key' in filter) {
    const texts = [filter.key, memberOf(filter, 'values') ?? []].flat();
    return texts.every(text => typeof text === 'string');
  }
  const [name, operand] = onlyMemberOf(filter);
  switch (name) {
    case 'allOf':
    case 'anyOf':
      return isListOf(operand, isEntityFilter);
    case 'not':
      return isEntityFilter(operand);
    default:
      return false;
  }
}

function isListOf(value: unknown, isPart: (part: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(part => isPart(part));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Returns name and value of the member of an object that has only one. */
function onlyMemberOf(value: unknown): readonly [string?, unknown?] {
  const members = isObject(value) ? Object.entries(value) : [];
  return members.length === 1 ? members[0] : [];
}

/** Returns the content of a cursor; `undefined` when it is malformed. */
function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Checks levels and number of names and values. Looks at one level after
 * another, because recursion would overflow the stack.
 *
 * @returns the texts in the value
 * @throws InputError
 */
function measure(root: unknown, maxValues: number): readonly string[] {
  let texts: readonly string[] = [];
  let count = 0;
  let values = [root];
  for (let level = 0; values.length > 0; level += 1) {
    texts = texts.concat(values.filter(value => typeof value === 'string'));
    count += values.length;
    if (level > MAX_LEVELS || count > maxValues) {
      throw tooLarge(maxValues);
    }
    values = values.flatMap(value =>
      typeof value === 'object' && value !== null ? contentOf(value) : [],
    );
  }
  // PostgreSQL does not store NUL: the plugins would return 500.
  if (texts.some(text => text.includes('\0'))) {
    throw new InputError('The request contains NUL.');
  }
  return texts;
}

function tooLarge(maxValues: number): InputError {
  return new InputError(
    `The request is too large: it has more than ${MAX_LEVELS} levels or ${maxValues} values.`,
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function contentOf(value: object): unknown[] {
  return Array.isArray(value) ? value : Object.entries(value).flat();
}
