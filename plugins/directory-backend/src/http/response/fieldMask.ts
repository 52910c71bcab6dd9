import { InvalidRequestError } from './apiErrors';

const TOKEN = /[{},]|[\p{L}\p{N}_:\-*]+/gu;

/** The keys of a record in their order, and which of them are lists. */
export interface RecordModel {
  readonly keys: readonly string[];
  readonly lists: ReadonlySet<string>;
  /** The keys without a mask, where these are not all. */
  readonly defaults?: readonly string[];
  /** Keys that only a mask that names them brings: `*` does not. */
  readonly onlyByName?: readonly string[];
}

/**
 * Reads an `X-Fields` header against the record that it masks: the keys of the
 * answer, in the order of the mask. Without a mask these are the default keys.
 *
 * The grammar is the one of flask-restx, which clients rely on: outer braces
 * and a trailing comma are optional, `*` stands for the other keys, names that
 * the record lacks drop silently, and every character that is neither part of
 * a name nor structure separates names.
 *
 * @throws InvalidRequestError with the sentence that names what is wrong.
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

/** `emails{}` is the list itself; any other nesting has nothing to go into. */
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
