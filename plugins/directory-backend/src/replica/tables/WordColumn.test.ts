import fc from 'fast-check';
import { areSimilar } from './WordColumn';

describe('areSimilar', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', 'b', 'c'),
    maxLength: 5,
  });

  it('agrees with an enumeration of all edits', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(areSimilar(a, b)).toBe(a === b || editsOf(a).has(b));
      }),
      { numRuns: 20_000, seed: 20_261_124 },
    );
  });
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
