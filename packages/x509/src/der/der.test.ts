import fc from 'fast-check';
import {
  int,
  NULL,
  octets,
  oid,
  seq,
  set,
  text,
  tlv,
} from '../__testUtils__/tlv';
import { DerError } from './DerNode';
import { parseDer } from './parseDer';
import { readInteger, readObjectIdentifier, readTime } from './readDer';
import { readStrictDer } from './readStrictDer';
import { decodeText } from './readText';
import { integer, objectIdentifier, time } from './writeDer';

/** Arbitrary DER, nested at most four levels. */
const { value: anyDer } = fc.letrec<{ value: Buffer }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt().map(int),
    fc.uint8Array({ maxLength: 300 }).map(octets),
    fc.string().map(value => text(0x0c, value)),
    fc.constant(NULL),
    fc
      .array(fc.bigInt({ min: 0n, max: 2n ** 70n }), { maxLength: 5 })
      .map(arcs => oid(['1', '2', ...arcs].join('.'))),
    fc.array(tie('value'), { maxLength: 5 }).map(values => seq(...values)),
    fc.array(tie('value'), { maxLength: 5 }).map(values => set(...values)),
    fc
      .array(tie('value'), { maxLength: 5 })
      .map(values => tlv(0xa3, ...values)),
  ),
}));

function readsWell(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof DerError) {
      return false;
    }
    throw error;
  }
}

describe('readStrictDer', () => {
  it('accepts any DER and returns the bytes of every value', () => {
    fc.assert(
      fc.property(anyDer, der => {
        const node = readStrictDer(der);
        expect(node.der).toEqual(der);
        const rest = Buffer.concat(node.children.map(child => child.der));
        expect(rest).toEqual(node.children.length > 0 ? node.content : rest);
      }),
    );
  });

  it('throws only a DerError for any bytes', () => {
    const damaged = fc
      .tuple(anyDer, fc.nat(), fc.nat({ max: 255 }))
      .map(([der, at, octet]) => {
        const copy = Buffer.from(der);
        copy[at % copy.length] = octet;
        return copy;
      });
    const bytes = fc.oneof(
      damaged,
      fc.uint8Array().map(array => Buffer.from(array)),
    );
    fc.assert(
      fc.property(bytes, input => {
        expect([true, false]).toContain(readsWell(() => readStrictDer(input)));
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['half a header', '30'],
    ['an indefinite length', '30800000'],
    ['a length of one octet that is encoded in two', '308100'],
    ['a length with a leading zero', `3082007f${'00'.repeat(127)}`],
    ['a reserved length', '30ff00'],
    ['a length of four octets', '308400000001ff'],
    ['a truncated length', '3082'],
    ['a truncated value', '30030201'],
    ['a value longer than its parent', '3003020200'],
    ['a high tag number', '1f8101'],
    ['an end of contents', '30020000'],
    ['a BOOLEAN of 1', '010101'],
    ['a BOOLEAN of two octets', '0102ffff'],
    ['an empty INTEGER', '0200'],
    ['an INTEGER with leading zeros', '02020001'],
    ['an INTEGER with leading ones', '0202ff80'],
    ['an ENUMERATED with leading zeros', '0a020001'],
    ['an empty BIT STRING', '0300'],
    ['a BIT STRING of 8 unused bits', '03020800'],
    ['an empty BIT STRING with unused bits', '030101'],
    ['a BIT STRING with stray bits', '03020101'],
    ['a constructed BIT STRING', '230403020000'],
    ['a NULL with content', '050100'],
    ['an empty OID', '0600'],
    ['a truncated OID', '06022a83'],
    ['an OID with padding', '06032a8001'],
    ['an OID of 65 octets', `0641${'2a'.repeat(65)}`],
    ['a constructed string', '2c030c0161'],
    ['a primitive SEQUENCE', '1000'],
    ['a primitive SET', '1100'],
    ['a BMPString of odd length', '1e0161'],
    ['a UniversalString of three octets', '1c03000061'],
    ['a UTF8String that is not UTF-8', '0c01ff'],
    [
      'a UTCTime without seconds',
      `170b${Buffer.from('2205060622Z').toString('hex')}`,
    ],
    [
      'a GeneralizedTime with a zero',
      `1811${Buffer.from('20220506062253.0Z').toString('hex')}`,
    ],
    ['a REAL', '0900'],
    ['a RELATIVE-OID', '0d012a'],
  ])('refuses %s', (_, hex) => {
    expect(readsWell(() => readStrictDer(Buffer.from(hex, 'hex')))).toBe(false);
  });

  it('distinguishes trailing bytes from too many values', () => {
    const deep = (levels: number) =>
      Array.from({ length: levels }).reduce<Buffer>(
        nested => seq(nested),
        NULL,
      );
    expect(() => parseDer(Buffer.of(5, 0, 0))).toThrow(
      expect.objectContaining({ kind: 'trailing' }),
    );
    expect(() => parseDer(deep(33))).toThrow(
      expect.objectContaining({ kind: 'complex' }),
    );
    expect(readsWell(() => parseDer(deep(32)))).toBe(true);
    const wide = (values: number) =>
      seq(...Array.from({ length: values }, () => NULL));
    expect(() => parseDer(wide(4096))).toThrow(
      expect.objectContaining({ kind: 'complex' }),
    );
    expect(readsWell(() => parseDer(wide(4095)))).toBe(true);
  });
});

describe('numbers', () => {
  it('are unchanged after writing and reading', () => {
    fc.assert(
      fc.property(fc.bigInt(), value => {
        expect(readInteger(parseDer(int(value)))).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n }), value => {
        expect(integer(value)).toEqual(int(value));
      }),
    );
  });

  it.each([
    '0.39',
    '1.0',
    '1.39.1',
    '2.0',
    '2.39',
    '2.40',
    '2.999.3',
    `1.2.${2n ** 64n}`,
  ])('are read as the OID %s', dotted => {
    expect(readObjectIdentifier(parseDer(oid(dotted)))).toBe(dotted);
  });

  it.each(['', '1', '1.x', '3.1', '1.40', `1.2.${2n ** 64n}`])(
    'are not written as the OID %p',
    dotted => {
      expect(() => objectIdentifier(dotted)).toThrow(RangeError);
    },
  );

  it('are written as OIDs that are read unchanged', () => {
    const arc = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const arcs = fc.tuple(
      fc.nat({ max: 2 }),
      fc.nat({ max: 39 }),
      fc.array(arc),
    );
    fc.assert(
      fc.property(arcs, ([first, second, rest]) => {
        const dotted = [first, second, ...rest.slice(0, 6)].join('.');
        const der = objectIdentifier(dotted);
        expect(der).toEqual(oid(dotted));
      }),
    );
  });
});

describe('decodeText', () => {
  it.each([
    ['utf8', 'c3a4', 'ä'],
    ['utf8', 'efbbbf61', '\ufeffa'],
    ['printable', '613f', 'a?'],
    ['ia5', '6100', 'a\0'],
    ['teletex', 'e4', 'ä'],
    ['bmp', '00e4d83dde00', 'ä😀'],
    ['universal', '000000e40001f600', 'ä😀'],
  ] as const)('reads %s', (type, hex, expected) => {
    expect(decodeText(Buffer.from(hex, 'hex'), type)).toBe(expected);
  });

  it.each([
    ['utf8', 'c080'],
    ['utf8', 'eda080'],
    ['printable', '40'],
    ['ia5', '80'],
    ['general', 'e4'],
    ['bmp', '00'],
    ['bmp', 'd800'],
    ['universal', '00'],
    ['universal', '00110000'],
    ['universal', '0000d800'],
  ] as const)('refuses %s: %s', (type, hex) => {
    expect(() => decodeText(Buffer.from(hex, 'hex'), type)).toThrow(DerError);
  });
});

describe('readTime', () => {
  const read = (tag: number, value: string) =>
    readTime(parseDer(text(tag, value))).toISOString();

  it.each([
    [0x17, '220506062253Z', '2022-05-06T06:22:53.000Z'],
    [0x17, '491231235959Z', '2049-12-31T23:59:59.000Z'],
    [0x17, '500101000000Z', '1950-01-01T00:00:00.000Z'],
    [0x17, '2205060622Z', '2022-05-06T06:22:00.000Z'],
    [0x17, '220506062253+0130', '2022-05-06T04:52:53.000Z'],
    [0x17, '220506062253-0130', '2022-05-06T07:52:53.000Z'],
    [0x18, '20500101000000Z', '2050-01-01T00:00:00.000Z'],
    [0x18, '99991231235959Z', '9999-12-31T23:59:59.000Z'],
    [0x18, '20220506062253.5Z', '2022-05-06T06:22:53.000Z'],
  ])('reads tag %d with content %s', (tag, value, expected) => {
    expect(read(tag, value)).toBe(expected);
  });

  it.each([
    [0x17, ''],
    [0x17, '220230000000Z'],
    [0x17, '220506246253Z'],
    [0x17, '220506062260Z'],
    [0x17, '220506062253'],
    [0x17, '20220506062253Z'],
    [0x18, '2205060622Z'],
    [0x0c, '220506062253Z'],
  ])('rejects tag %d with content %p', (tag, value) => {
    expect(() => read(tag, value)).toThrow(DerError);
  });

  it('reads written times, which are UTCTime or GeneralizedTime depending on the year', () => {
    const dates = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, date => {
        const node = parseDer(time(date));
        const year = date.getUTCFullYear();
        expect(node.tag).toBe(year >= 1950 && year < 2050 ? 0x17 : 0x18);
        expect(readTime(node).getTime()).toBe(
          Math.floor(date.getTime() / 1000) * 1000,
        );
      }),
    );
  });
});
