import type { Response } from 'express';

/**
 * A part of an answer that is written as JSON already. It is kept as its octets
 * in UTF-8, one a character: V8 puts such texts together and copies them out as
 * they are. One name in another script, and it would take two octets for every
 * character of the whole answer, and encode each on the way out.
 */
export class JsonText {
  /** As `latin1` reads them. */
  readonly octets: string;

  /** @param text - a JSON value */
  constructor(text: string) {
    this.octets = toOctets(text);
  }

  /** What writes the answer otherwise finds the value itself. */
  toJSON(): unknown {
    return JSON.parse(fromOctets(this.octets).toString());
  }
}

/** An answer's JSON in UTF-8; what is written already is taken as it is. */
export function writeJson(answer: unknown): Buffer {
  return fromOctets(writeOctets(answer));
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

/** As {@link writeJson}, its octets as `latin1` reads them. */
export function writeOctets(answer: unknown): string {
  if (answer instanceof JsonText) {
    return answer.octets;
  }
  if (!hasJsonText(answer)) {
    return toOctets(JSON.stringify(answer) ?? 'null');
  }
  if (Array.isArray(answer)) {
    return `[${answer.map(writeOctets).join()}]`;
  }
  const members = Object.entries(answer)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${writeOctets(name)}:${writeOctets(value)}`);
  return `{${members.join()}}`;
}

function toOctets(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function fromOctets(octets: string): Buffer {
  return Buffer.from(octets, 'latin1');
}

/** Whether there is some in a list, or in the members of an answer. */
function hasJsonText(answer: unknown): answer is object {
  return Array.isArray(answer)
    ? answer.some(isJsonText)
    : typeof answer === 'object' &&
        answer !== null &&
        Object.values(answer).some(
          value =>
            isJsonText(value) ||
            (Array.isArray(value) && value.some(isJsonText)),
        );
}

function isJsonText(value: unknown): value is JsonText {
  return value instanceof JsonText;
}

/**
 * An integer that JSON carries to the last digit, however long
 * (`JSON.rawJSON`, in Node.js from 22 on).
 */
export function rawInteger(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return rawJSON(String(value));
}

/** A record as an answer has it. */
export type Presented = JsonText | Readonly<Record<string, unknown>>;

/**
 * Presents a record with all its keys only once: whoever may see the same
 * record is shown the same. What hides something makes another record of it,
 * and so does every change; what is kept ends with its record.
 *
 * @param whole - the keys of an answer without a mask, this very array
 */
export function presentOnce<T extends object>(
  whole: readonly string[],
  present: (
    record: T,
    keys: readonly string[],
  ) => Readonly<Record<string, unknown>>,
): (record: T, keys: readonly string[]) => Presented {
  const written = new WeakMap<T, JsonText>();
  return (record, keys) => {
    if (keys !== whole) {
      return present(record, keys);
    }
    let text = written.get(record);
    if (!text) {
      text = new JsonText(JSON.stringify(present(record, keys)));
      written.set(record, text);
    }
    return text;
  };
}
