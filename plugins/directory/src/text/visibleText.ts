/** Controls and characters without a glyph, the selectors of emoji excepted. */
const INVISIBLE = /(?!\p{VS})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u;

/** Zero-width joiner and non-joiner. */
const JOINERS = new Set(['\u200c', '\u200d']);

/** Emoji, and letters of the scripts in which joiners are part of words. */
const JOINED =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]/u;

/** A part of a text. */
export interface TextRun {
  /** What to show. */
  text: string;

  /** Whether the text is the code point of an invisible character. */
  isCodePoint: boolean;
}

/**
 * Splits a text at its invisible characters, which become code points such as
 * `U+202E`. A joiner within an emoji or a word that needs it stays as it is.
 */
export function textRuns(value: string): TextRun[] {
  const characters = Array.from(value);
  const runs: TextRun[] = [];
  characters.forEach((character, index) => {
    const isJoiner =
      JOINERS.has(character) &&
      [characters[index - 1], characters[index + 1]].every(
        neighbor =>
          neighbor && !INVISIBLE.test(neighbor) && JOINED.test(neighbor),
      );
    const last = runs[runs.length - 1];
    if (INVISIBLE.test(character) && !isJoiner) {
      const digits = character.codePointAt(0)!.toString(16).toUpperCase();
      runs.push({ text: `U+${digits.padStart(4, '0')}`, isCodePoint: true });
    } else if (last && !last.isCodePoint) {
      last.text += character;
    } else {
      runs.push({ text: character, isCodePoint: false });
    }
  });
  return runs;
}

/**
 * A value of the directory for a label, a tooltip or the title of a window,
 * its invisible characters as code points.
 */
export function visibleText(value: string): string {
  return textRuns(value)
    .map(({ text, isCodePoint }) => (isCodePoint ? `[${text}]` : text))
    .join('');
}
