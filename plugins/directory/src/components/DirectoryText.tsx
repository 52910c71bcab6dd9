import { foldWords } from '@directory-gateway/backstage-plugin-directory-common';
import styles from './DirectoryText.module.css';

/**
 * A value of the directory within a page. Its direction does not affect the
 * surrounding text, and its invisible characters are shown.
 */
export function DirectoryText(props: {
  /** Value as stored in the directory: users write most of them themselves. */
  value: string;

  /** Searched text, to highlight its words. Defaults to none. */
  mark?: string;
}) {
  const { value, mark = '' } = props;
  return (
    <bdi>
      {markedParts(value, mark).map(({ text, isMarked }, index) =>
        isMarked ? (
          // eslint-disable-next-line react/no-array-index-key -- the same text may be there twice
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

/** Splits a value at its words, which are marked where a searched word is. */
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
      // A letter may be folded to two: the whole word is marked then.
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
          // eslint-disable-next-line react/no-array-index-key -- the same code point may be there twice
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

/** Controls and characters without a glyph, the selectors of emoji excepted. */
const INVISIBLE = /(?!\p{VS})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u;

/** Zero-width joiner and non-joiner. */
const JOINERS = new Set(['\u200c', '\u200d']);

/** Emoji, and letters of the scripts in which joiners are part of words. */
const JOINED =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]/u;

interface TextRun {
  text: string;

  /** Whether the text is the code point of an invisible character. */
  isCodePoint: boolean;
}

/**
 * Splits a text at its invisible characters and replaces them by code points
 * such as `U+202E`. A joiner within an emoji or a word that needs it is kept.
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
 * Returns a value of the directory for a label, a tooltip or a window title,
 * with invisible characters as code points.
 */
export function visibleText(value: string): string {
  return textRuns(value)
    .map(({ text, isCodePoint }) => (isCodePoint ? `[${text}]` : text))
    .join('');
}
