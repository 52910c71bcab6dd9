import { cleanText } from '@directory-gateway/backstage-plugin-directory-common';
import type { Entry } from 'ldapts';
import { DirectoryUnavailableError } from '@directory-gateway/directory-core';

/**
 * Returns the values of an attribute. Attribute names are not case-sensitive:
 * servers return the spelling of their schema (RFC 4512 §2.5).
 */
export function valuesOf(
  entry: Entry,
  attribute: string,
): readonly (string | Buffer)[] {
  const values = Object.hasOwn(entry, attribute)
    ? entry[attribute]
    : Object.entries(entry).find(
        ([name]) => name.toLowerCase() === attribute.toLowerCase(),
      )?.[1];
  if (values === undefined) {
    return [];
  }
  return Array.isArray(values) ? values : [values];
}

/**
 * Returns values as clean text; bytes that are not UTF-8 become U+FFFD. Not for
 * DNs that identify entries: two of them could become equal.
 */
export function textsOf(entry: Entry, attribute: string): readonly string[] {
  return valuesOf(entry, attribute).map(value => cleanText(value.toString()));
}

/** Returns the first value as text. */
export function textOf(entry: Entry, attribute: string): string | undefined {
  return textsOf(entry, attribute)[0];
}

/** Returns the first value if it is an integer (RFC 4517 §3.3.16). */
export function integerOf(entry: Entry, attribute: string): number | undefined {
  const number = Number(textOf(entry, attribute) ?? NaN);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Returns the first value as a Boolean (RFC 4517 §3.3.3). */
export function booleanOf(
  entry: Entry,
  attribute: string,
): boolean | undefined {
  const text = textOf(entry, attribute)?.toUpperCase();
  return text === undefined ? undefined : text === 'TRUE';
}

/**
 * Generalized Time (RFC 4517 §3.3.13). Minutes, seconds, fraction and time zone
 * are optional; the default time zone is UTC, as FreeIPA writes it.
 */
const GENERALIZED_TIME =
  /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?(?:[.,]\d+)?(?:Z|([+-])(\d\d)(\d\d)?)?$/;

/** Returns the first value as a time, without fractions of a second. */
export function timeOf(entry: Entry, attribute: string): Date | undefined {
  const match = GENERALIZED_TIME.exec(textOf(entry, attribute) ?? '');
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

/** Returns values as bytes. */
export function buffersOf(entry: Entry, attribute: string): readonly Buffer[] {
  return valuesOf(entry, attribute).map(value => Buffer.from(value));
}

/**
 * Returns the first value of a required attribute.
 *
 * @throws DirectoryUnavailableError when the attribute is missing.
 */
export function requiredTextOf(entry: Entry, attribute: string): string {
  const text = textOf(entry, attribute);
  if (text === undefined) {
    throw new DirectoryUnavailableError(
      `The directory did not return the attribute ${attribute}`,
    );
  }
  return text;
}

/** Returns whether an entry has an object class. */
export function hasClass(entry: Entry, objectClass: string): boolean {
  return textsOf(entry, 'objectClass').some(
    name => name.toLowerCase() === objectClass.toLowerCase(),
  );
}
