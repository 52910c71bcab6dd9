import type { Entry } from 'ldapts';
import { DirectoryUnavailableError } from '../directory/errors';

/**
 * The values of an attribute of an entry, whatever the spelling of its name:
 * servers answer with their schema's, not with the asked one (RFC 4512 §2.5).
 */
export function valuesOf(
  entry: Entry,
  attribute: string,
): readonly (string | Buffer)[] {
  const own = Object.hasOwn(entry, attribute)
    ? entry[attribute]
    : Object.entries(entry).find(
        ([name]) => name.toLowerCase() === attribute.toLowerCase(),
      )?.[1];
  if (own === undefined) {
    return [];
  }
  return Array.isArray(own) ? own : [own];
}

/** The values of an attribute as text; bytes that are not UTF-8 are marked. */
export function textsOf(entry: Entry, attribute: string): readonly string[] {
  return valuesOf(entry, attribute).map(value => value.toString());
}

/** The first value of an attribute as text. */
export function textOf(entry: Entry, attribute: string): string | undefined {
  return textsOf(entry, attribute)[0];
}

/** RFC 4517 §3.3.16: the first value of an attribute, if it is an integer. */
export function integerOf(entry: Entry, attribute: string): number | undefined {
  const number = Number(textOf(entry, attribute) ?? NaN);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** RFC 4517 §3.3.3: `TRUE` and `FALSE`; absent is neither. */
export function booleanOf(
  entry: Entry,
  attribute: string,
): boolean | undefined {
  const text = textOf(entry, attribute)?.toUpperCase();
  return text === undefined ? undefined : text === 'TRUE';
}

/**
 * RFC 4517 §3.3.13 Generalized Time, with minutes, seconds, fraction and zone
 * as far as they are given; without a zone it is UTC, as FreeIPA writes it.
 */
const GENERALIZED_TIME =
  /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?(?:[.,]\d+)?(?:Z|([+-])(\d\d)(\d\d)?)?$/;

/** A Generalized Time value, to the second. */
export function timeOf(entry: Entry, attribute: string): Date | undefined {
  const text = textOf(entry, attribute);
  const match = text === undefined ? undefined : GENERALIZED_TIME.exec(text);
  if (!match) {
    return undefined;
  }
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map(digits => Number(digits ?? 0));
  const zone =
    (match[7] === '-' ? -1 : 1) *
    (Number(match[8] ?? 0) * 60 + Number(match[9] ?? 0));
  return new Date(Date.UTC(year, month - 1, day, hour, minute - zone, second));
}

/** The DER of each value of an attribute. */
export function buffersOf(entry: Entry, attribute: string): readonly Buffer[] {
  return valuesOf(entry, attribute).map(value => Buffer.from(value));
}

/** A value that every entry of its kind has; its absence is no answer. */
export function requiredTextOf(entry: Entry, attribute: string): string {
  const text = textOf(entry, attribute);
  if (text === undefined) {
    throw new DirectoryUnavailableError(
      `The directory withholds the attribute ${attribute}`,
    );
  }
  return text;
}
