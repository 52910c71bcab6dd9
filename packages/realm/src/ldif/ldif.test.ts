import fc from 'fast-check';
import { escapeRdnValue } from './LdifEntry';
import { formatLdif } from './ldif';
import { LdifEntry } from './LdifEntry';
import { normalizeDn } from './LdifEntry';
import { parseLdif } from './ldif';

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(' ', ':', '<', '#', '\n', '\r', '\\', 'é', 'a'),
  }),
);

describe('LDIF', () => {
  it('parses every value that it has formatted', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), values => {
        const entry = new LdifEntry('cn=x,dc=example,dc=test', {
          cn: 'x',
          description: values,
        });
        const [read, ...more] = parseLdif(formatLdif(entry));
        expect(more).toEqual([]);
        expect(read.all('description')).toEqual(values);
      }),
    );
  });

  it('keeps octets that are not UTF-8', () => {
    const octets = Buffer.from([0xff, 0x00, 0x80]);
    const entry = new LdifEntry('', { 'userCertificate;binary': octets });
    const [read] = parseLdif(formatLdif(entry));
    expect(read.all('usercertificate;BINARY')).toEqual([octets]);
    expect(read.texts('userCertificate;binary')).toEqual([]);
  });

  it('joins folded lines and drops comments, including folded ones', () => {
    const entries = parseLdif(
      'version: 1\n# a comment\n  goes on\ndn: cn=a\n b,dc=x\r\ncn:: w\n 6k=\nCN: two\n\n\ndn:\nobjectClass: top\n',
    );
    expect(entries.map(entry => entry.dn)).toEqual(['cn=ab,dc=x', '']);
    expect(entries[0].texts('cn')).toEqual(['é', 'two']);
    expect(entries[1].isA('TOP')).toBe(true);
  });

  it.each([
    ['dn: a\nchangetype: delete\n', 'line 2: change records'],
    ['dn: a\n\ncn: b\n', 'line 3: a record starts'],
    ['dn: a\njpegPhoto:< file:///etc/passwd\n', 'line 2: values by URL'],
    ['dn: a\nnonsense\n', 'line 2: not an attribute'],
  ])('refuses %j', (text, message) => {
    expect(() => parseLdif(text)).toThrow(message);
  });
});

describe('distinguished names', () => {
  it('are equal for every escaping of a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), name => {
        const hex = [...Buffer.from(name, 'utf8')]
          .map(octet => `\\${octet.toString(16).padStart(2, '0')}`)
          .join('');
        expect(normalizeDn(`uid=${escapeRdnValue(name)},dc=x`)).toBe(
          normalizeDn(`UID = ${hex} , DC=X`),
        );
      }),
    );
  });

  it('are different for different values', () => {
    const keys = ['a,b', 'a\\,b', 'a\\2cb', 'a+b', 'a\\+b', '"a,b"'].map(text =>
      normalizeDn(`uid=${text},dc=x`),
    );
    expect(keys[1]).toBe(keys[2]);
    expect(keys[1]).toBe(keys[5]);
    expect(new Set(keys).size).toBe(4);
  });
});
