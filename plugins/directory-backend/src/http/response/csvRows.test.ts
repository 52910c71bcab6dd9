import fc from 'fast-check';
import { csvRows } from './csvRows';

it('quotes as RFC 4180 has it, and joins lists', () => {
  expect(
    csvRows([
      ['username', 'emails'],
      ['a"b', ['x@y', 'z@y']],
      ['a,b\r\nc', null],
    ]),
  ).toBe('username,emails\r\n"a""b",x@y; z@y\r\n"a,b\r\nc",\r\n');
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
  'makes no formula of %j',
  text => {
    expect(csvRows([[text, [text, 'x']]]).replaceAll('"', '')).toBe(
      `'${text},'${text}; x\r\n`,
    );
  },
);

it('leaves no cell that a spreadsheet would run', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .constantFrom(...'=+-@\t\r')
      .chain(start => fc.string().map(rest => start + rest)),
  );
  fc.assert(
    fc.property(cell, text => {
      const [first] = csvRows([[text]]).replace(/^"/, '');
      expect('=+-@\t'.includes(first)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});
