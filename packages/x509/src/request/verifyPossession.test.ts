import { constants } from 'node:crypto';
import { buildRequest, RequestParts } from '../__testUtils__/buildRequest';
import { outcomeOf } from '../__testUtils__/outcomeOf';
import { testKey } from '../__testUtils__/testKeys';
import { bits, int, NULL, oid, seq, tlv } from '../__testUtils__/tlv';
import { parseDer } from '../der/parseDer';

const rsa = testKey('rsa');
const p256 = testKey('P-256');

describe('signature algorithms', () => {
  it.each<[string, RequestParts]>([
    ['RSA, SHA-256', { key: rsa }],
    [
      'RSA, SHA-384',
      {
        key: rsa,
        hash: 'sha384',
        algorithm: seq(oid('sha384WithRsaEncryption'), NULL),
      },
    ],
    [
      'RSA, SHA-512',
      {
        key: rsa,
        hash: 'sha512',
        algorithm: seq(oid('sha512WithRsaEncryption'), NULL),
      },
    ],
    [
      'RSA without parameters',
      { key: rsa, algorithm: seq(oid('sha256WithRsaEncryption')) },
    ],
    ['P-256', {}],
    [
      'P-384',
      {
        key: testKey('P-384'),
        hash: 'sha384',
        algorithm: seq(oid('ecdsaWithSha384')),
      },
    ],
    [
      'P-521',
      {
        key: testKey('P-521'),
        hash: 'sha512',
        algorithm: seq(oid('ecdsaWithSha512')),
      },
    ],
    [
      'a longer hash than the curve',
      { hash: 'sha512', algorithm: seq(oid('ecdsaWithSha512')) },
    ],
    ['Ed25519', { key: testKey('ed25519') }],
  ])('accepts %s', (_, parts) => {
    expect(outcomeOf(buildRequest(parts))).toBe('read');
  });

  it.each<[string, string, RequestParts]>([
    [
      'weak_signature_algorithm',
      'SHA-1',
      {
        key: rsa,
        hash: 'sha1',
        algorithm: seq(oid('1.2.840.113549.1.1.5'), NULL),
      },
    ],
    [
      'weak_signature_algorithm',
      'ECDSA with SHA-1',
      { hash: 'sha1', algorithm: seq(oid('1.2.840.10045.4.1')) },
    ],
    [
      'unsupported_signature_algorithm',
      'SHA-224',
      { hash: 'sha224', algorithm: seq(oid('1.2.840.10045.4.3.1')) },
    ],
    [
      'unsupported_signature_algorithm',
      'SHA-3',
      { hash: 'sha3-256', algorithm: seq(oid('2.16.840.1.101.3.4.3.10')) },
    ],
    [
      'unsupported_signature_algorithm',
      'plain RSA',
      { key: rsa, algorithm: seq(oid('rsaEncryption'), NULL) },
    ],
    [
      'unsupported_signature_algorithm',
      'ECDSA with parameters',
      { algorithm: seq(oid('ecdsaWithSha256'), NULL) },
    ],
    [
      'unsupported_signature_algorithm',
      'RSA with other parameters',
      { key: rsa, algorithm: seq(oid('sha256WithRsaEncryption'), seq()) },
    ],
    [
      'unsupported_signature_algorithm',
      'two parameters',
      { key: rsa, algorithm: seq(oid('sha256WithRsaEncryption'), NULL, NULL) },
    ],
    ['unsupported_signature_algorithm', 'no OID', { algorithm: seq(NULL) }],
    [
      'unsupported_signature_algorithm',
      'an arc that overflows 64 bits',
      { algorithm: seq(oid(`1.2.840.10045.4.3.${2n ** 64n + 2n}`)) },
    ],
    [
      'signature_algorithm_mismatch',
      'an ECDSA algorithm with an RSA key',
      { key: rsa, algorithm: seq(oid('ecdsaWithSha256')) },
    ],
    [
      'signature_algorithm_mismatch',
      'the Ed25519 algorithm with an EC key',
      { algorithm: seq(oid('ed25519')) },
    ],
    ['bad_signature', 'a hash other than the declared one', { hash: 'sha384' }],
    [
      'bad_signature',
      'PSS declared as PKCS #1',
      { key: rsa, signing: { padding: constants.RSA_PKCS1_PSS_PADDING } },
    ],
  ])('%s: %s', (code, _, parts) => {
    expect(outcomeOf(buildRequest(parts))).toBe(code);
  });
});

describe('signatures', () => {
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['r = n, s = 0', seq(int(n), int(0n))],
    ['r = n, s = n', seq(int(n), int(n))],
    ['r = 1, s = 1', seq(int(1n), int(1n))],
    ['negative numbers', seq(int(-1n), int(-1n))],
    ['one number', seq(int(1n))],
    ['the two numbers without DER', Buffer.alloc(64, 1)],
  ])('of ECDSA are invalid: %s', (_, signature) => {
    expect(outcomeOf(buildRequest({ signature }))).toBe('bad_signature');
  });

  it('of ECDSA have only one encoding', () => {
    const der = buildRequest();
    const [info, algorithm, signature] = parseDer(der).children;
    const [r, s] = parseDer(signature.content.subarray(1)).children;
    const again = (value: Buffer) =>
      outcomeOf(seq(info.der, algorithm.der, bits(value)));
    expect(again(seq(r.der, s.der))).toBe('read');
    expect(again(seq(r.der, s.der, NULL))).toBe('bad_signature');
    expect(again(Buffer.concat([seq(r.der, s.der), NULL]))).toBe(
      'bad_signature',
    );
    expect(again(seq(tlv(2, Buffer.of(0), r.content), s.der))).toBe(
      'bad_signature',
    );
    expect(
      again(Buffer.concat([Buffer.of(0x30, 0x80), r.der, s.der, NULL])),
    ).toBe('bad_signature');
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['zero', Buffer.alloc(256)],
    ['one', Buffer.concat([Buffer.alloc(255), Buffer.of(1)])],
    ['all bits set', Buffer.alloc(256, 0xff)],
    ['too many octets', Buffer.alloc(257, 1)],
  ])('of RSA are invalid: %s', (_, signature) => {
    expect(outcomeOf(buildRequest({ key: rsa, signature }))).toBe(
      'bad_signature',
    );
  });

  it('must be made with the key of the request over its content', () => {
    expect(
      outcomeOf(buildRequest({ key: p256, spki: testKey('P-384').spki })),
    ).toBe('bad_signature');
    const [info, algorithm, signature] = parseDer(
      buildRequest({ key: rsa }),
    ).children;
    const other = Buffer.from(info.der);
    other.write('alicE', other.indexOf('alice'), 'latin1');
    expect(outcomeOf(seq(other, algorithm.der, signature.der))).toBe(
      'bad_signature',
    );
  });

  it('must not have unused bits', () => {
    const [info, algorithm, signature] = parseDer(
      buildRequest({ key: rsa }),
    ).children;
    const content = signature.content.subarray(1);
    expect(outcomeOf(seq(info.der, algorithm.der, bits(content)))).toBe('read');
    expect(outcomeOf(seq(info.der, algorithm.der, bits(content, 1)))).toMatch(
      /malformed|not_a_request/,
    );
  });
});
