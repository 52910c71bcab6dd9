import { constants } from 'node:crypto';
import { buildRequest, RequestParts } from '../__testUtils__/buildRequest';
import { testKey } from '../__testUtils__/testKeys';
import { bits, int, NULL, oid, seq, tlv } from '../__testUtils__/tlv';
import { parseDer } from '../der/parseDer';
import { readCertificateRequest } from './readCertificateRequest';

function outcome(der: Buffer): string {
  const result = readCertificateRequest(der.toString('base64'));
  return result.ok ? 'read' : result.code;
}

const rsa = testKey('rsa');
const p256 = testKey('P-256');

describe('algorithms', () => {
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
  ])('takes %s', (_, parts) => {
    expect(outcome(buildRequest(parts))).toBe('read');
  });

  it.each<[string, string, RequestParts]>([
    [
      'weak_signature_algorithm',
      'MD5',
      {
        key: rsa,
        hash: 'md5',
        algorithm: seq(oid('1.2.840.113549.1.1.4'), NULL),
      },
    ],
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
      'an arc that wraps round',
      { algorithm: seq(oid(`1.2.840.10045.4.3.${2n ** 32n + 2n}`)) },
    ],
    [
      'unsupported_signature_algorithm',
      'an arc that wraps round in 64 bits',
      { algorithm: seq(oid(`1.2.840.10045.4.3.${2n ** 64n + 2n}`)) },
    ],
    [
      'signature_algorithm_mismatch',
      "RSA's with an EC key",
      { algorithm: seq(oid('sha256WithRsaEncryption'), NULL) },
    ],
    [
      'signature_algorithm_mismatch',
      "ECDSA's with an RSA key",
      { key: rsa, algorithm: seq(oid('ecdsaWithSha256')) },
    ],
    [
      'signature_algorithm_mismatch',
      "Ed25519's with an EC key",
      { algorithm: seq(oid('ed25519')) },
    ],
    ['bad_signature', 'another hash than named', { hash: 'sha384' }],
    [
      'bad_signature',
      'PKCS #1 named, PSS done',
      { key: rsa, signing: { padding: constants.RSA_PKCS1_PSS_PADDING } },
    ],
  ])('%s: %s', (code, _, parts) => {
    expect(outcome(buildRequest(parts))).toBe(code);
  });
});

describe('RSASSA-PSS', () => {
  const sha256 = seq(oid('sha256'), NULL);
  const mask = (hash: Buffer) => tlv(0xa1, seq(oid('mgf1'), hash));
  const salt = (length: bigint) => tlv(0xa2, int(length));
  const hash256 = tlv(0xa0, sha256);
  const signed = (saltLength: number, ...parameters: Buffer[]) =>
    buildRequest({
      key: rsa,
      algorithm: seq(oid('rsassaPss'), seq(...parameters)),
      signing: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength },
    });

  it.each([
    ['as OpenSSL does', signed(32, hash256, mask(sha256), salt(32n))],
    ['with the longest salt', signed(222, hash256, mask(sha256), salt(222n))],
    ['with the default salt', signed(20, hash256, mask(sha256))],
    [
      'with the default salt spelled out',
      signed(20, hash256, mask(sha256), salt(20n)),
    ],
    [
      'with the trailer spelled out',
      signed(32, hash256, mask(sha256), salt(32n), tlv(0xa3, int(1n))),
    ],
    [
      'without parameters of the hash',
      signed(
        32,
        tlv(0xa0, seq(oid('sha256'))),
        mask(seq(oid('sha256'))),
        salt(32n),
      ),
    ],
  ])('is taken %s', (_, der) => {
    expect(outcome(der)).toBe('read');
  });

  const sha1 = seq(oid('1.3.14.3.2.26'), NULL);
  const sha384 = seq(oid('sha384'), NULL);
  it.each([
    ['weak_signature_algorithm', 'the defaults', signed(20)],
    [
      'weak_signature_algorithm',
      'the default mask',
      signed(32, hash256, salt(32n)),
    ],
    [
      'unsupported_signature_algorithm',
      'SHA-1 spelled out',
      signed(20, tlv(0xa0, sha1), mask(sha1)),
    ],
    [
      'unsupported_signature_algorithm',
      'two hashes',
      signed(32, hash256, mask(sha384), salt(32n)),
    ],
    [
      'unsupported_signature_algorithm',
      'another mask',
      signed(32, hash256, tlv(0xa1, seq(oid('sha256'), sha256)), salt(32n)),
    ],
    [
      'unsupported_signature_algorithm',
      'no salt',
      signed(0, hash256, mask(sha256), salt(0n)),
    ],
    [
      'unsupported_signature_algorithm',
      'a negative salt',
      signed(32, hash256, mask(sha256), salt(-1n)),
    ],
    [
      'unsupported_signature_algorithm',
      'a huge salt',
      signed(32, hash256, mask(sha256), salt(2n ** 40n)),
    ],
    [
      'unsupported_signature_algorithm',
      'another trailer',
      signed(32, hash256, mask(sha256), salt(32n), tlv(0xa3, int(2n))),
    ],
    [
      'weak_signature_algorithm',
      'fields out of order',
      signed(32, mask(sha256), hash256, salt(32n)),
    ],
    [
      'weak_signature_algorithm',
      'a field twice',
      signed(32, hash256, hash256, mask(sha256), salt(32n)),
    ],
    [
      'bad_signature',
      'a salt of another length',
      signed(32, hash256, mask(sha256), salt(33n)),
    ],
    [
      'bad_signature',
      'more salt than the key has room for',
      signed(32, hash256, mask(sha256), salt(1000n)),
    ],
  ])('%s: %s', (code, _, der) => {
    expect(outcome(der)).toBe(code);
  });

  it('has no default parameters at all', () => {
    const der = buildRequest({ key: rsa, algorithm: seq(oid('rsassaPss')) });
    expect(outcome(der)).toBe('unsupported_signature_algorithm');
  });
});

describe('signatures', () => {
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['r = 0, s = 0', seq(int(0n), int(0n))],
    ['r = n, s = 0', seq(int(n), int(0n))],
    ['r = n, s = n', seq(int(n), int(n))],
    ['r = 1, s = 1', seq(int(1n), int(1n))],
    ['negative numbers', seq(int(-1n), int(-1n))],
    ['one number', seq(int(1n))],
    ['the two numbers bare', Buffer.alloc(64, 1)],
  ])('of EC are wrong with %s', (_, signature) => {
    expect(outcome(buildRequest({ signature }))).toBe('bad_signature');
  });

  it('of EC have one form only', () => {
    const der = buildRequest();
    const [info, algorithm, signature] = parseDer(der).children;
    const [r, s] = parseDer(signature.content.subarray(1)).children;
    const again = (value: Buffer) =>
      outcome(seq(info.der, algorithm.der, bits(value)));
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
    ['as many ones as fit', Buffer.alloc(256, 0xff)],
    ['too many octets', Buffer.alloc(257, 1)],
  ])('of RSA are wrong with %s', (_, signature) => {
    expect(outcome(buildRequest({ key: rsa, signature }))).toBe(
      'bad_signature',
    );
  });

  it('are those of the key in the request, over what is in the request', () => {
    expect(
      outcome(buildRequest({ key: p256, spki: testKey('P-384').spki })),
    ).toBe('bad_signature');
    const [info, algorithm, signature] = parseDer(
      buildRequest({ key: rsa }),
    ).children;
    const other = Buffer.from(info.der);
    other.write('alicE', other.indexOf('alice'), 'latin1');
    expect(outcome(seq(other, algorithm.der, signature.der))).toBe(
      'bad_signature',
    );
  });

  it('need all their bits', () => {
    const [info, algorithm, signature] = parseDer(
      buildRequest({ key: rsa }),
    ).children;
    const content = signature.content.subarray(1);
    expect(outcome(seq(info.der, algorithm.der, bits(content)))).toBe('read');
    expect(outcome(seq(info.der, algorithm.der, bits(content, 1)))).toMatch(
      /malformed|not_a_request/,
    );
  });
});

describe('points of Ed25519 that prove nothing', () => {
  /** The points of order 1, 2, 4 and 8, the latter with either sign of x. */
  const points = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ];
  const spkiOf = (hex: string) =>
    seq(seq(oid('ed25519')), bits(Buffer.from(hex, 'hex')));

  it('are refused before anybody verifies a signature that fits every text', () => {
    // With s = 1, R is the base point: OpenSSL 3.0 (Node 22) takes it for a key of order 1.
    const basePoint = Buffer.from('58'.padEnd(64, '6'), 'hex');
    const signature = Buffer.concat([
      basePoint,
      Buffer.of(1),
      Buffer.alloc(31),
    ]);
    const spki = spkiOf(points[0]);
    const der = buildRequest({ key: testKey('ed25519'), spki, signature });
    expect(outcome(der)).toBe('invalid_point');
  });

  it.each([
    ...points,
    // y = p, y = p + 1 and the largest: other spellings of 0, 1 and 18
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  ])('are refused: %s', hex => {
    const der = buildRequest({ key: testKey('ed25519'), spki: spkiOf(hex) });
    expect(outcome(der)).toBe('invalid_point');
  });

  it('are not taken for points that are not there', () => {
    // y = 2 has no x.
    const der = buildRequest({
      key: testKey('ed25519'),
      spki: spkiOf('02'.padEnd(64, '0')),
    });
    expect(outcome(der)).toBe('bad_signature');
  });
});
