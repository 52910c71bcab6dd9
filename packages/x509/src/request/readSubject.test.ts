import fc from 'fast-check';
import {
  buildRequest,
  nameAttribute,
  subject,
} from '../__testUtils__/buildRequest';
import { outcomeOf, requestOf } from '../__testUtils__/outcomeOf';
import { testKey } from '../__testUtils__/testKeys';
import { NULL, oid, seq, set, text, tlv } from '../__testUtils__/tlv';

describe('subject', () => {
  it.each<[string, string, Buffer]>([
    ['bad_subject', 'a SET', set()],
    ['bad_subject', 'an empty relative name', seq(set())],
    [
      'bad_subject',
      'an attribute with three fields',
      seq(set(seq(oid('commonName'), text(0x0c, 'a'), NULL))),
    ],
    [
      'subject_string_type',
      'BMPString',
      subject(['commonName', '\0a\0l', 0x1e]),
    ],
    [
      'subject_string_type',
      'VisibleString',
      subject(['commonName', 'alice', 0x1a]),
    ],
    [
      'subject_string_type',
      'GeneralString',
      subject(['commonName', 'alice', 0x1b]),
    ],
    [
      'subject_string_type',
      'OCTET STRING',
      subject(['commonName', 'alice', 0x04]),
    ],
    [
      'subject_characters',
      'a line break',
      subject(['commonName', 'alice'], ['2.5.4.10', 'a\nb']),
    ],
    [
      'subject_characters',
      'a C1 control',
      subject(['commonName', 'alice\u0085']),
    ],
    [
      'malformed',
      'bytes that are not UTF-8',
      seq(set(seq(oid('commonName'), tlv(0x0c, Buffer.of(0xff))))),
    ],
    [
      'subject_characters',
      'characters outside PrintableString',
      subject(['commonName', 'alice@x', 0x13]),
    ],
    [
      'subject_too_long',
      '8 KiB of text',
      subject(['commonName', 'a'.repeat(8192)]),
    ],
    [
      'subject_too_long',
      '51 parts',
      subject(
        ...Array.from(
          { length: 51 },
          () => ['2.5.4.11', 'x'] as [string, string],
        ),
      ),
    ],
    [
      'subject_too_long',
      '51 attributes in one part',
      seq(
        set(
          ...Array.from({ length: 51 }, () => nameAttribute('2.5.4.11', 'x')),
        ),
      ),
    ],
  ])('returns %s for %s', (code, _, name) => {
    expect(outcomeOf(buildRequest({ subject: name }))).toBe(code);
  });

  it('returns every CN unchanged, in any position', () => {
    const name = seq(
      set(
        nameAttribute('commonName', 'alice'),
        nameAttribute('commonName', 'bob'),
      ),
      set(nameAttribute('commonName', 'alice,O=Root+CN=admin ')),
    );
    const request = requestOf(buildRequest({ subject: name }));
    expect(request.subject.commonNames).toEqual([
      'alice',
      'bob',
      'alice,O=Root+CN=admin ',
    ]);
    expect(request.subject.text).toBe(
      'CN=alice\\,O=Root\\+CN=admin\\ ,CN=alice+CN=bob',
    );
  });

  it('returns every printable CN code point by code point', () => {
    const printable = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter(value => !/[\p{Cc}\p{Cs}]/u.test(value));
    fc.assert(
      fc.property(printable, value => {
        const request = requestOf(
          buildRequest({
            key: testKey('ed25519'),
            subject: subject(['commonName', value]),
          }),
        );
        expect(request.subject.commonNames).toEqual([value]);
      }),
    );
  });
});
