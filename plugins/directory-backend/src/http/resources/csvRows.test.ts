import fc from 'fast-check';
import { csvRows } from './exportMembers';

it('quotes as RFC 4180 has it, and joins lists', () => {
  expect(
    csvRows([
      ['username', 'emails'],
      ['a"b', ['x@y', 'z@y']],
      ['a,b\r\nc', null],
    ]),
  ).toBe('username,emails\r\n"a""b","x@y; z@y"\r\n"a,b\r\nc",\r\n');
});

it.each(['a\nb', 'a\rb', 'a\r\nb', 'a"b', 'a,b', 'a;b'])('quotes %j', text => {
  expect(csvRows([[text, 'x']])).toBe(`"${text.replace('"', '""')}",x\r\n`);
});

it.each([
  ['\n=1+1', "'\n'=1+1"],
  ['\r=1', "'\r'=1"],
  ['a\r=1+1', "a\r'=1+1"],
  ['a\r\n@SUM(A1)', "a\r\n'@SUM(A1)"],
  ['a\n\t=1', "a\n'\t=1"],
  ['x;=1+1', "x;'=1+1"],
  ['x;  -1', "x;  '-1"],
  [['x', '+1'], "x; '+1"],
])('makes no formula of a later part of %j', (value, text) => {
  expect(csvRows([[value]])).toBe(`"${text}"\r\n`);
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1'])(
  'makes no formula of %j',
  text => {
    expect(csvRows([[text, [text, 'x']]]).replaceAll('"', '')).toBe(
      `'${text},'${text}; x\r\n`,
    );
  },
);

it('writes cells that are quoted where necessary and run nowhere', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'a ";,\r\n\t=+-@') }),
    fc
      .constantFrom(...'=+-@\t\r')
      .chain(start => fc.string().map(rest => start + rest)),
  );
  fc.assert(
    fc.property(cell, text => {
      const row = csvRows([[text]]);
      expect(row).toMatch(/^(?:[^",;\r\n]*|"(?:[^"]|"")*")\r\n$/);
      const value = row.slice(0, -2).replace(/^"|"$/g, '');
      expect(value).not.toMatch(/(?:^|[\r\n;]) *[=+\-@\t]/);
      expect(value).not.toMatch(/^[\r\n]/);
    }),
    { numRuns: 2000 },
  );
});
