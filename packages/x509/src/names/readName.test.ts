import fc from 'fast-check';
import { nameAttribute, subject } from '../__testUtils__/buildRequest';
import { bits, NULL, oid, seq, set, text } from '../__testUtils__/tlv';
import { DerError } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import { formatKerberosPrincipal } from './readGeneralName';
import { readGeneralName } from './readGeneralName';
import { readName } from './readName';
import {
  NamePart,
  WritableGeneralName,
  writeGeneralName,
  writeName,
} from '../issuing/writeNames';

function textOf(name: Buffer): string {
  return readName(parseDer(name)).text;
}

describe('the text of a name', () => {
  it.each([
    ['nothing', seq(), ''],
    [
      'the last part first',
      subject(['2.5.4.10', 'EXAMPLE.TEST'], ['commonName', 'alice']),
      'CN=alice,O=EXAMPLE.TEST',
    ],
    [
      'several attributes in one part',
      seq(
        set(nameAttribute('commonName', 'a'), nameAttribute('2.5.4.11', 'b')),
      ),
      'CN=a+OU=b',
    ],
    [
      'separators',
      subject(['commonName', 'a,b+c"d\\e<f>g;h']),
      'CN=a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h',
    ],
    [
      'leading and trailing spaces',
      subject(['commonName', ' a ']),
      'CN=\\ a\\ ',
    ],
    ['a lone space', subject(['commonName', ' ']), 'CN=\\ '],
    ['a leading number sign', subject(['commonName', '#a#']), 'CN=\\#a#'],
    [
      'control characters',
      subject(['commonName', 'a\0b\nc']),
      'CN=a\\00b\\0ac',
    ],
    [
      'a bidirectional control',
      subject(['commonName', 'a\u202eb']),
      'CN=a\\e2\\80\\aeb',
    ],
    ['non-ASCII letters', subject(['commonName', 'älice']), 'CN=älice'],
    ['a type without a name', subject(['1.2.3', 'a']), '1.2.3=#0c0161'],
    [
      'a value that is not text',
      seq(set(seq(oid('commonName'), bits(Buffer.of(1))))),
      'CN=#03020001',
    ],
    [
      'text that cannot be decoded',
      seq(set(seq(oid('commonName'), text(0x1e, 'abc')))),
      'CN=#1e03616263',
    ],
    [
      'an e-mail address, in the format of FreeIPA',
      subject(['emailAddress', 'a@b', 0x16]),
      'E=a@b',
    ],
  ])('has %s', (_, name, expected) => {
    expect(textOf(name)).toBe(expected);
  });

  it.each([
    ['a value that is not a list', NULL],
    ['an empty part', seq(set())],
    ['a part that is not a SET', seq(seq())],
    ['an attribute without a value', seq(set(seq(oid('commonName'))))],
    [
      'an attribute with three fields',
      seq(set(seq(oid('commonName'), NULL, NULL))),
    ],
  ])('throws a DerError for %s', (_, name) => {
    expect(() => textOf(name)).toThrow(DerError);
  });

  it('is different for different names', () => {
    const parts = fc.array(
      fc.tuple(
        fc.constantFrom('commonName', '2.5.4.10', '1.2.3'),
        fc.string({
          unit: fc.constantFrom('a', ',', '+', '=', '\\', ' ', '#', '"'),
        }),
      ),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(parts, parts, (first, second) => {
        const [one, two] = [subject(...first), subject(...second)];
        expect(textOf(one) === textOf(two)).toBe(one.equals(two));
      }),
    );
  });
});

describe('writeName', () => {
  const parts = fc.array(
    fc.record({
      type: fc.constantFrom<NamePart['type']>('CN', 'O'),
      value: fc
        .string({ unit: 'grapheme', minLength: 1 })
        .filter(value => !/[\p{Cc}\p{Cs}]/u.test(value)),
    }),
  );

  it('writes names that are read unchanged', () => {
    fc.assert(
      fc.property(parts, written => {
        const { rdns } = readName(parseDer(writeName(written)));
        expect(rdns.map(([{ value }]) => value)).toEqual(
          written.map(({ value }) => value),
        );
      }),
    );
  });

  it.each(['', 'a\0', '\ud800'])('throws a RangeError for %p', value => {
    expect(() => writeName([{ type: 'CN', value }])).toThrow(RangeError);
  });
});

describe('alternative names', () => {
  const word = fc
    .string({ minLength: 1 })
    .filter(value => /^[!-~]+$/.test(value));
  const part = fc
    .string({ minLength: 1 })
    .filter(value => /^[ -~]+$/.test(value));

  it('are unchanged after writing and reading', () => {
    const names = fc.oneof(
      fc.record({
        kind: fc.constant('uri' as const),
        value: word,
      }),
      fc.record({
        kind: fc.constant('rfc822Name' as const),
        value: word.map(value => `${value}@x`),
      }),
      fc.record({
        kind: fc.constant('userPrincipalName' as const),
        value: part,
      }),
      fc.record({
        kind: fc.constant('krb5PrincipalName' as const),
        principal: fc.record({
          realm: part,
          nameType: fc.nat(),
          components: fc.array(part, { minLength: 1 }),
        }),
      }),
    );
    fc.assert(
      fc.property(names, name => {
        expect(readGeneralName(parseDer(writeGeneralName(name)))).toMatchObject(
          name,
        );
      }),
    );
  });

  it.each<WritableGeneralName>([
    { kind: 'uri', value: '' },
    { kind: 'uri', value: 'a b' },
    { kind: 'rfc822Name', value: 'ä@b' },
    { kind: 'userPrincipalName', value: 'a\n' },
    {
      kind: 'krb5PrincipalName',
      principal: { realm: '', nameType: 1, components: ['a'] },
    },
    {
      kind: 'krb5PrincipalName',
      principal: { realm: 'R', nameType: 1, components: [''] },
    },
  ])('throw a RangeError when they are invalid: %p', name => {
    expect(() => writeGeneralName(name)).toThrow(RangeError);
  });
});

describe('formatKerberosPrincipal', () => {
  it('returns different texts for different principals', () => {
    const tricky = fc.string({
      unit: fc.constantFrom('a', '@', '/', '\\'),
      minLength: 1,
    });
    const principal = fc.record({
      realm: tricky,
      components: fc.array(tricky, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(principal, principal, (first, second) => {
        const same = JSON.stringify(first) === JSON.stringify(second);
        expect(
          formatKerberosPrincipal(first) === formatKerberosPrincipal(second),
        ).toBe(same);
      }),
    );
  });
});
