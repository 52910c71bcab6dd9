import fc from 'fast-check';
import { compareNames, isGroupName, isUserName } from './names';

describe.each([
  ['isUserName', isUserName],
  ['isGroupName', isGroupName],
])('%s', (_name, isName) => {
  it.each(['alice', 'john.doe', 'mary-jane_w', '_x', '.x', 'A', '9', 'win$'])(
    'accepts %s',
    name => expect(isName(name)).toBe(true),
  );

  it.each([
    ['an empty text', ''],
    ['a leading dash', '-dash'],
    ['a slash', 'a/b'],
    ['NUL', 'a\0'],
    ['CR LF', 'a\r\n'],
    ['a trailing line feed', 'alice\n'],
    ['a star', '*'],
    ['a parenthesis', 'a('],
    ['a backslash', 'a\\'],
    ['a comma', 'a,b'],
    ['a leading space', ' a'],
    ['a trailing space', 'a '],
    ['two inner spaces', 'a  b'],
    ['a space before a dollar', 'a $'],
    ['a tab', 'a\tb'],
    ['a no-break space', 'a\u00a0b'],
    ['a Cyrillic а', '\u0430lice'],
    ['a full-width a', '\uff41lice'],
    ['a combining accent', 'alice\u0301'],
    ['a dollar in the middle', 'a$b'],
    ['too many characters', 'a'.repeat(256)],
  ])('rejects %s', (_what, name) => expect(isName(name)).toBe(false));

  it('rejects special characters of DNs and filters', () => {
    const part = fc.string({
      unit: fc.constantFrom(...'aZ0_.-$'),
      maxLength: 3,
    });
    const other = fc.string({ unit: 'binary', maxLength: 2 });
    fc.assert(
      fc.property(part, other, part, (start, text, end) => {
        const names = [...',+"\\<>;=#*()/\0\t\n\r\u00a0 ', '  ', text].map(
          each => start + each + end,
        );
        const special = names.filter(name =>
          /[^\S ]|^ | $| {2}|[,+"\\<>;=#*()/\0]/.test(name),
        );
        expect(special.filter(isName)).toEqual([]);
      }),
    );
  });
});

describe('a name with single inner spaces', () => {
  it.each(['trust admins', 'a b c', 'a -b .c', `${'a '.repeat(127)}b`])(
    'is a group name and not a user name: %s',
    name =>
      expect([isGroupName(name), isUserName(name)]).toEqual([true, false]),
  );

  it('has at most 255 characters', () =>
    expect(isGroupName(`${'a '.repeat(127)}bc`)).toBe(false));
});

describe('compareNames', () => {
  it('is a case-insensitive total order', () => {
    expect(['b', 'B', 'a', 'C', 'A'].sort(compareNames)).toEqual([
      'A',
      'a',
      'B',
      'b',
      'C',
    ]);
    // Not the order of a language, which ignores punctuation.
    expect(['a_', 'b', 'a.', 'a-', 'A1', 'a'].sort(compareNames)).toEqual([
      'a',
      'a-',
      'a.',
      'A1',
      'a_',
      'b',
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
