import {
  buildRequest,
  extension,
  extensionRequest,
} from '../__testUtils__/buildRequest';
import { outcomeOf } from '../__testUtils__/outcomeOf';
import {
  FALSE,
  int,
  NULL,
  octets,
  oid,
  seq,
  text,
  TRUE,
} from '../__testUtils__/tlv';

describe('requested extensions', () => {
  const constraints = (...fields: Buffer[]) =>
    extension('basicConstraints', seq(...fields));
  it.each<[string, string, Buffer[]]>([
    ['bad_extension', 'one that is not a SEQUENCE', [NULL]],
    ['bad_extension', 'one without a value', [seq(oid('1.2.3'))]],
    [
      'bad_extension',
      'one with two values',
      [seq(oid('1.2.3'), octets(NULL), octets(NULL))],
    ],
    [
      'bad_extension',
      'a value without an OCTET STRING',
      [seq(oid('1.2.3'), NULL)],
    ],
    [
      'bad_extension',
      'too many',
      Array.from({ length: 33 }, (_, i) => extension(`1.2.${i}`, NULL)),
    ],
    [
      'duplicate_extension',
      'one twice',
      [extension('1.2.3', NULL), extension('1.2.3', NULL)],
    ],
    [
      'duplicate_extension',
      'two lists of names',
      [
        extension('subjectAltName', seq(text(0x81, 'a@b'))),
        extension('subjectAltName', seq(text(0x81, 'a@b'))),
      ],
    ],
    [
      'unknown_critical_extension',
      'critical name constraints',
      [extension('2.5.29.30', seq(), { critical: true })],
    ],
    [
      'ca_requested',
      'CA:TRUE with a path length',
      [constraints(TRUE, int(0n))],
    ],
    [
      'ca_requested',
      'CA:FALSE with a path length',
      [constraints(FALSE, int(0n))],
    ],
    ['bad_extension', 'a path length alone', [constraints(int(0n))]],
    [
      'bad_extension',
      'constraints with trailing bytes',
      [extension('basicConstraints', Buffer.concat([seq(), seq(TRUE)]))],
    ],
  ])('are %s: %s', (code, _, extensions) => {
    expect(
      outcomeOf(
        buildRequest({ attributes: [extensionRequest(...extensions)] }),
      ),
    ).toBe(code);
  });
});
