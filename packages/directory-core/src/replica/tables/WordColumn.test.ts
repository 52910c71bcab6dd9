import { areSimilar } from './WordColumn';

/** All words of up to four letters. */
const words = [''];
for (const word of words) {
  if (word.length < 4) {
    words.push(...[...'abc'].map(letter => word + letter));
  }
}

it('areSimilar agrees with an enumeration of all edits', () => {
  const different = words.flatMap(a => {
    const edits = editsOf(a).add(a);
    return words
      .filter(b => areSimilar(a, b) !== edits.has(b))
      .map(b => [a, b]);
  });
  expect(words).toHaveLength(121);
  expect(different).toEqual([]);
});

/** Returns all words that differ from a word by one edit. */
function editsOf(word: string): Set<string> {
  const edits = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    edits.add(before + after.slice(1));
    if (after.length > 1) {
      edits.add(before + after[1] + after[0] + after.slice(2));
    }
    for (const letter of 'abc') {
      edits.add(before + letter + after);
      edits.add(before + (after && letter) + after.slice(1));
    }
  }
  return edits;
}
