import { InvalidRequestError } from '../../apiErrors';

const TOKEN = /[{},]|[\p{L}\p{N}_:\-*]+/gu;

/** The keys of a record. */
export interface RecordModel {
  /** In the order of the response. */
  readonly keys: readonly string[];
  /** The keys whose values are lists. */
  readonly lists: ReadonlySet<string>;
  /** The keys that are returned without a mask. Default: all. */
  readonly defaults?: readonly string[];
  /** Keys that are returned only if a mask names them: `*` excludes them. */
  readonly onlyByName?: readonly string[];
}

/**
 * Returns the keys that an `X-Fields` header selects, in the order of the mask;
 * without a mask, the default keys.
 *
 * The grammar is that of flask-restx, which clients rely on: outer braces and a
 * trailing comma are optional, `*` selects the other keys, unknown names are
 * ignored, and every character that is neither part of a name nor syntax
 * separates names.
 *
 * @throws InvalidRequestError when the mask is invalid.
 */
export function resolveFields(
  header: string | undefined,
  model: RecordModel,
): readonly string[] {
  if (header === undefined || header.trim() === '') {
    return model.defaults ?? model.keys;
  }
  const mask = parse(header);
  const keys = [...model.keys, ...(model.onlyByName ?? [])];
  for (const [name, nested] of mask) {
    if (isNestingOnScalar(name, nested, { ...model, keys })) {
      throw maskError('Mask error: Mask is inconsistent with model');
    }
  }
  const named = [...mask.keys()].filter(name => keys.includes(name));
  if (!mask.has('*')) {
    return named;
  }
  return [...named, ...model.keys.filter(key => !mask.has(key))];
}

type Mask = Map<string, Mask | undefined>;

function parse(header: string): Mask {
  const root: Mask = new Map();
  const open: Mask[] = [];
  let current = root;
  let previous: string | undefined;
  for (const token of withoutBraces(header.trim()).match(TOKEN) ?? []) {
    if (token === '{') {
      if (previous === undefined || !current.has(previous)) {
        throw parseError('Unexpected opening bracket');
      }
      const nested: Mask = new Map();
      current.set(previous, nested);
      open.push(current);
      current = nested;
    } else if (token === '}') {
      const outer = open.pop();
      if (!outer) {
        throw parseError('Unexpected closing bracket');
      }
      current = outer;
    } else if (token !== ',') {
      current.set(token, undefined);
    } else if (previous === undefined || previous === ',' || previous === '{') {
      throw parseError('Unexpected comma');
    }
    previous = token;
  }
  if (open.length > 0) {
    throw parseError('Missing closing bracket');
  }
  return root;
}

function withoutBraces(text: string): string {
  if (!text.startsWith('{')) {
    return text;
  }
  if (!text.endsWith('}')) {
    throw parseError('Missing closing bracket');
  }
  return text.slice(1, -1);
}

/** Nested masks of values are invalid, except an empty mask of a list. */
function isNestingOnScalar(
  name: string,
  nested: Mask | undefined,
  model: RecordModel,
): boolean {
  return (
    nested !== undefined &&
    model.keys.includes(name) &&
    !(nested.size === 0 && model.lists.has(name))
  );
}

function parseError(what: string): InvalidRequestError {
  return maskError(`Mask parse error: ${what}`);
}

function maskError(message: string): InvalidRequestError {
  return new InvalidRequestError({ message });
}
