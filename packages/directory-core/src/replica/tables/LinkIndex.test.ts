import fc from 'fast-check';
import { LinkIndex } from './MembershipGraph';

const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'));

it('returns the sources of each target after replacements', () => {
  const step = fc.record({
    source: fc.constantFrom('x', 'y', 'z'),
    now: names,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), steps => {
      const index = new LinkIndex();
      const links = new Map<string, readonly string[]>();
      for (const { source, now } of steps) {
        const old = links.get(source) ?? [];
        const hasChanged = index.replace(source, old, now);
        expect(hasChanged).toBe(`${old.toSorted()}` !== `${now.toSorted()}`);
        links.set(source, now);
      }
      for (const target of 'abcdefgh') {
        const expected = [...links.keys()].filter(source =>
          links.get(source)!.includes(target),
        );
        expect(index.of(target)).toEqual(expected.sort());
      }
    }),
  );
});
