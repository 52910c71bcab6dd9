/** Control characters other than tab and line breaks, and lone surrogates. */
const FORBIDDEN = /[^\P{Cc}\t\n\r]|\p{Cs}/gu;

/**
 * Returns a text from the directory in a form that entities, databases, logs
 * and terminals accept. PostgreSQL stores neither NUL nor lone surrogates.
 * Characters are replaced, not removed: a name with a control character does
 * not become another valid name.
 *
 * @param text - text of any source
 * @param maxLength - maximum length in UTF-16 code units; no surrogate pair is
 *   split. Default: unlimited
 * @returns the text with U+FFFD in place of each control character, except for
 *   tab, line feed and carriage return, and of each lone surrogate
 * @public
 */
export function cleanText(text: string, maxLength = Infinity): string {
  const cleaned = text.replace(FORBIDDEN, '\ufffd');
  return cleaned.length > maxLength
    ? cleaned.slice(0, maxLength).replace(/\p{Cs}$/u, '')
    : cleaned;
}
