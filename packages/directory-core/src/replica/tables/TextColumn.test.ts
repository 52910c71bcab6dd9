import fc from 'fast-check';
import { isContained, isEqual } from '../../__testUtils__/naive/naiveSearch';
import { foldText } from './foldText';
import { TextColumn } from './TextColumn';

/** A few letters of each kind that is folded, so that texts often match. */
const letter = fc.constantFrom(
  ...['a', 'A', 'b', 'é', 'É', 'ß', 'K', 'İ', ' ', '\u2003', '\t', '.'],
  ...['\u0301', '😀', '\uffff'],
);
const value = fc.string({ unit: letter, maxLength: 6 });
const columns = fc.array(fc.array(value, { maxLength: 3 }), { maxLength: 8 });

/** Rows, and a search term: any text, or a part of a value. */
const search = columns.chain(rows =>
  fc.record({
    rows: fc.constant(rows),
    text: fc
      .tuple(fc.constantFrom('', ...rows.flat()), value, fc.nat(5), fc.nat(6))
      .map(([found, other, start, end]) =>
        (found ? [...found].slice(start % 3, end).join('') : other).trim(),
      ),
  }),
);

function ranksWhere(
  rows: readonly (readonly string[])[],
  matches: (value: string) => boolean,
): number[] {
  return rows.flatMap((values, rank) => (values.some(matches) ? [rank] : []));
}

it('finds the same values as a comparison of each value', () => {
  fc.assert(
    fc.property(search, ({ rows, text: wanted }) => {
      const column = TextColumn.of(rows);
      expect([...column.containing(foldText(wanted))]).toEqual(
        ranksWhere(rows, each => isContained(each, wanted)),
      );
      expect([...column.equalTo(foldText(wanted))]).toEqual(
        ranksWhere(rows, each => isEqual(each, wanted)),
      );
    }),
  );
});

it('does not match across values', () => {
  const column = TextColumn.of([['ab', 'ba'], ['b']]);
  expect([...column.containing('abba')]).toEqual([]);
  expect([...column.containing('bb')]).toEqual([]);
  expect([...column.containing('ab')]).toEqual([0]);
});
