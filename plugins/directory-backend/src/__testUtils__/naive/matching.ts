import { smallLetters } from '../../replica/tables/foldText';

/** What that server takes for space, at the ends and in a row. */
const SPACE = /[\t-\r \u2000-\u200a\u3000\ufeff]/;
const SPACES_AT_ENDS = RegExp(`^${SPACE.source}+|${SPACE.source}+$`, 'g');

/** Whether two values are equal: case ignored, spaces folded. */
export function isEqual(value: string, asserted: string): boolean {
  return trim(prepare(value)) === trim(prepare(asserted));
}

/** Whether a value contains a text; a space at its ends is one of the value. */
export function isContained(value: string, asserted: string): boolean {
  return trim(prepare(value)).includes(prepare(asserted));
}

function prepare(text: string): string {
  const kept: string[] = [];
  for (const character of text) {
    const inRow = SPACE.test(character) && SPACE.test(kept.at(-1) ?? '');
    if (!inRow) {
      kept.push(smallLetters.get(character) ?? character);
    }
  }
  return kept.join('');
}

function trim(prepared: string): string {
  return prepared.replace(SPACES_AT_ENDS, '');
}
