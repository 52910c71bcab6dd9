import fc from 'fast-check';
import { inAll, inAny, inOrder } from './rankSets';

/** Lists of similar length are intersected differently from others. */
const list = fc
  .oneof(
    fc.uniqueArray(fc.nat(200), { maxLength: 150 }),
    fc.uniqueArray(fc.nat(200), { maxLength: 5 }),
  )
  .map(ranks => Uint32Array.from(ranks).sort());

it('intersects lists of any length', () => {
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 3 }), lists => {
      const expected = lists[0].filter(rank =>
        lists.every(each => each.includes(rank)),
      );
      expect(inAll(lists)).toEqual(expected);
    }),
  );
});

it('merges lists of any length', () => {
  fc.assert(
    fc.property(fc.array(list, { maxLength: 3 }), lists => {
      const ranks = new Set(lists.flatMap(each => [...each]));
      expect(inAny(lists)).toEqual(Uint32Array.from(ranks).sort());
    }),
  );
});

it('sorts few or many ranks', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(199), { maxLength: 60 }), ranks => {
      const expected = Uint32Array.from(new Set(ranks)).sort();
      expect(inOrder(ranks, 200)).toEqual(expected);
      expect(inOrder(ranks, 20_000)).toEqual(expected);
    }),
  );
});
