import fc from 'fast-check';
import { compareNames, isName } from './names';

describe('isName', () => {
  it.each(['alice', 'john.doe', 'mary-jane_w', '_x', '.x', 'A', '9', 'win$'])(
    'takes %s',
    name => expect(isName(name)).toBe(true),
  );

  it.each([
    ['nothing', ''],
    ['a leading dash', '-dash'],
    ['a slash', 'a/b'],
    ['NUL', 'a\0'],
    ['CR LF', 'a\r\n'],
    ['a trailing line feed', 'alice\n'],
    ['a star', '*'],
    ['a parenthesis', 'a('],
    ['a backslash', 'a\\'],
    ['a comma', 'a,b'],
    ['a space', 'a b'],
    ['a Cyrillic а', '\u0430lice'],
    ['a full-width a', '\uff41lice'],
    ['a combining accent', 'alice\u0301'],
    ['a dollar in the middle', 'a$b'],
    ['too many characters', 'a'.repeat(256)],
  ])('refuses %s', (_what, name) => expect(isName(name)).toBe(false));

  it('lets nothing through that means something in a DN or a filter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), name => {
        const special = /[\s,+"\\<>;=#*()/\0]/.test(name);
        expect(isName(name) && special).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('compareNames', () => {
  it('orders case-insensitively, and totally', () => {
    expect(['b', 'B', 'a', 'C', 'A'].sort(compareNames)).toEqual([
      'A',
      'a',
      'B',
      'b',
      'C',
    ]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(Math.sign(compareNames(a, b))).toBe(
          -Math.sign(compareNames(b, a)) || 0,
        );
        expect(compareNames(a, b) === 0).toBe(a === b);
      }),
    );
  });
});
