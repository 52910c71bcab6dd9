import type { Response } from 'express';

/**
 * A part of a response body that is already serialized. Its UTF-8 bytes are
 * stored as a Latin-1 string: V8 concatenates such strings and copies them to
 * the socket without encoding. A single name in another script would double the
 * size of the body's string and make V8 encode every character.
 */
export class SerializedJson {
  /** UTF-8 bytes as Latin-1 characters. */
  readonly latin1: string;

  /** @param text - a JSON value */
  constructor(text: string) {
    this.latin1 = toLatin1(text);
  }

  /** The value, for `JSON.stringify`. */
  toJSON(): unknown {
    return JSON.parse(fromLatin1(this.latin1).toString());
  }
}

/** Serializes a response body as UTF-8; copies parts already serialized. */
export function writeJson(body: unknown): Buffer {
  return fromLatin1(writeLatin1(body));
}

/**
 * Sends a JSON body with exactly the given content type. Express adds a charset
 * to the content type of `res.json()`, `res.type()` and `res.set()`.
 */
export function sendJson(
  res: Response,
  options: { readonly body: unknown; readonly contentType: string },
): void {
  res.setHeader('Content-Type', options.contentType);
  res.send(writeJson(options.body));
}

/** Like {@link writeJson}, with the bytes as Latin-1 characters. */
export function writeLatin1(body: unknown): string {
  if (body instanceof SerializedJson) {
    return body.latin1;
  }
  if (!hasSerialized(body)) {
    return toLatin1(JSON.stringify(body) ?? 'null');
  }
  if (Array.isArray(body)) {
    return `[${body.map(writeLatin1).join()}]`;
  }
  const members = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${writeLatin1(name)}:${writeLatin1(value)}`);
  return `{${members.join()}}`;
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function fromLatin1(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

/** Whether a list, or the members of an object, contain serialized parts. */
function hasSerialized(body: unknown): body is object {
  return Array.isArray(body)
    ? body.some(isSerialized)
    : typeof body === 'object' &&
        body !== null &&
        Object.values(body).some(
          value =>
            isSerialized(value) ||
            (Array.isArray(value) && value.some(isSerialized)),
        );
}

function isSerialized(value: unknown): value is SerializedJson {
  return value instanceof SerializedJson;
}

/** An integer of any size, exact in JSON (`JSON.rawJSON`, Node.js 22). */
export function rawInteger(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return rawJSON(String(value));
}

/** A record of a response body. */
export type PresentedRecord =
  SerializedJson | Readonly<Record<string, unknown>>;

/**
 * Caches the JSON of records with all keys, as long as the record exists. A
 * changed record, or one that hides fields from a caller, is another object.
 *
 * @param allKeys - the array of keys that is passed without a field mask
 */
export function cacheSerialized<T extends object>(
  allKeys: readonly string[],
  present: (
    record: T,
    keys: readonly string[],
  ) => Readonly<Record<string, unknown>>,
): (record: T, keys: readonly string[]) => PresentedRecord {
  const cache = new WeakMap<T, SerializedJson>();
  return (record, keys) => {
    if (keys !== allKeys) {
      return present(record, keys);
    }
    let serialized = cache.get(record);
    if (!serialized) {
      serialized = new SerializedJson(JSON.stringify(present(record, keys)));
      cache.set(record, serialized);
    }
    return serialized;
  };
}
