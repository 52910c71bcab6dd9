import type { AuditorServiceEvent } from '@backstage/backend-plugin-api';
import fc from 'fast-check';
import { auditExport, toCsv, type CsvBatch } from './exportMembers';

describe('auditExport', () => {
  let ends: unknown[];

  const createEvent = async (): Promise<AuditorServiceEvent> => ({
    success: async options => void ends.push(['success', options?.meta]),
    fail: async ({ meta, error }) =>
      void ends.push(['fail', meta, (error as Error).message]),
  });

  async function* batches(fault?: Error): AsyncGenerator<CsvBatch> {
    yield { rows: 2, text: 'a' };
    yield { rows: 1, text: 'b' };
    if (fault) {
      throw fault;
    }
  }

  async function read(chunks: AsyncIterable<string>): Promise<string> {
    let text = '';
    for await (const chunk of chunks) {
      text += chunk;
    }
    return text;
  }

  beforeEach(() => {
    ends = [];
  });

  it('records the number of rows', async () => {
    const chunks = auditExport(batches(), createEvent);
    expect(await read(chunks)).toBe('ab');
    expect(ends).toEqual([['success', { rows: 3 }]]);
  });

  it('records and rethrows an error', async () => {
    const away = new Error('away');
    const chunks = auditExport(batches(away), createEvent);
    await expect(read(chunks)).rejects.toBe(away);
    expect(ends).toEqual([['fail', { rows: 3 }, 'away']]);
  });

  it('records that the client disconnected', async () => {
    const chunks = auditExport(batches(), createEvent);
    await chunks.next();
    await chunks.return();
    expect(ends).toEqual([
      ['fail', { rows: 2 }, 'The client disconnected before the end'],
    ]);
  });
});

describe('toCsv', () => {
  it('quotes as in RFC 4180 and joins lists', () => {
    expect(
      toCsv([
        ['username', 'emails'],
        ['a"b', ['x@y', 'z@y']],
        ['a,b\r\nc', null],
      ]),
    ).toBe('username,emails\r\n"a""b","x@y; z@y"\r\n"a,b\r\nc",\r\n');
  });

  it.each(['a\nb', 'a\rb', 'a\r\nb', 'a"b', 'a,b', 'a;b'])(
    'quotes %j',
    text => {
      expect(toCsv([[text, 'x']])).toBe(`"${text.replace('"', '""')}",x\r\n`);
    },
  );

  it.each([
    ['\n=1+1', "'\n'=1+1"],
    ['\r=1', "'\r'=1"],
    ['a\r=1+1', "a\r'=1+1"],
    ['a\r\n@SUM(A1)', "a\r\n'@SUM(A1)"],
    ['a\n\t=1', "a\n'\t=1"],
    ['x;=1+1', "x;'=1+1"],
    ['x;  -1', "x;  '-1"],
    [['x', '+1'], "x; '+1"],
  ])('escapes formulas after line breaks and semicolons: %j', (value, text) => {
    expect(toCsv([[value]])).toBe(`"${text}"\r\n`);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1'])(
    'escapes the formula %j',
    text => {
      expect(toCsv([[text, [text, 'x']]]).replaceAll('"', '')).toBe(
        `'${text},'${text}; x\r\n`,
      );
    },
  );

  it('returns quoted cells without formulas', () => {
    const special = fc.string({ unit: fc.constantFrom(...'a ";,\r\n\t=+-@') });
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      special,
      special,
      fc
        .constantFrom(...'=+-@\t\r')
        .chain(start => fc.string().map(rest => start + rest)),
    );
    fc.assert(
      fc.property(cell, text => {
        const row = toCsv([[text]]);
        expect(row).toMatch(/^(?:[^",;\r\n]*|"(?:[^"]|"")*")\r\n$/);
        const value = row.slice(0, -2).replace(/^"|"$/g, '');
        expect(value).not.toMatch(/(?:^|[\r\n;]) *[=+\-@\t]/);
        expect(value).not.toMatch(/^[\r\n]/);
      }),
    );
  });
});
