import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import styles from './DirectoryText.module.css';

/**
 * A value from the directory. Its text direction does not affect the
 * surrounding text, and its invisible characters are shown.
 */
export function DirectoryText(props: {
  /** Value as stored in the directory. Users can set most values themselves. */
  value: string;

  /** Search text whose words are highlighted. Defaults to none. */
  mark?: string;
}) {
  const { value, mark = '' } = props;
  return (
    <bdi>
      {markedParts(value, mark).map(({ text, isMarked }, index) =>
        isMarked ? (
          // eslint-disable-next-line react/no-array-index-key -- the same text may occur twice
          <mark key={index} className={styles.mark}>
            <Runs value={text} />
          </mark>
        ) : (
          // eslint-disable-next-line react/no-array-index-key -- as above
          <Runs key={index} value={text} />
        ),
      )}
    </bdi>
  );
}

/** Splits a value into parts and marks those that match a search word. */
function markedParts(
  value: string,
  searched: string,
): { text: string; isMarked: boolean }[] {
  const words = foldWords(searched);
  if (words.length === 0) {
    return [{ text: value, isMarked: false }];
  }
  return value
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .flatMap(part => {
      const [folded = ''] = foldWords(part);
      const word = words.find(one => folded.includes(one));
      if (word === undefined) {
        return [{ text: part, isMarked: false }];
      }
      // If folding changes the length, the whole word is marked.
      const isAligned = folded.length === part.length;
      const start = isAligned ? folded.indexOf(word) : 0;
      const end = isAligned ? start + word.length : part.length;
      return [
        { text: part.slice(0, start), isMarked: false },
        { text: part.slice(start, end), isMarked: true },
        { text: part.slice(end), isMarked: false },
      ];
    })
    .filter(({ text }) => text !== '');
}

function Runs({ value }: { value: string }) {
  return (
    <>
      {textRuns(value).map(({ text, isCodePoint }, index) =>
        isCodePoint ? (
          // eslint-disable-next-line react/no-array-index-key -- the same code point may occur twice
          <span key={index} className={styles.codePoint}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </>
  );
}

/**
 * Control characters and characters without a glyph, except variation
 * selectors.
 */
const INVISIBLE = /(?!\p{VS})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u;

/** Zero-width joiner and non-joiner. */
const JOINERS = new Set(['\u200c', '\u200d']);

/** Emoji, and letters of scripts in which joiners are part of words. */
const JOINED =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]/u;

interface TextRun {
  text: string;

  /** Whether the text is the code point number of an invisible character. */
  isCodePoint: boolean;
}

/**
 * Splits a text at its invisible characters and replaces them with code point
 * numbers such as `U+202E`. Keeps joiners within emoji and within words that
 * need them.
 */
function textRuns(value: string): TextRun[] {
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
 * Returns a directory value for a label, a tooltip or a window title, with
 * invisible characters as code point numbers.
 */
export function visibleText(value: string): string {
  return textRuns(value)
    .map(({ text, isCodePoint }) => (isCodePoint ? `[${text}]` : text))
    .join('');
}
