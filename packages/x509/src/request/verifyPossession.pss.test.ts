import { constants } from 'node:crypto';
import { buildRequest } from '../__testUtils__/buildRequest';
import { outcomeOf } from '../__testUtils__/outcomeOf';
import { testKey } from '../__testUtils__/testKeys';
import { int, NULL, oid, seq, tlv } from '../__testUtils__/tlv';

describe('RSASSA-PSS', () => {
  const sha256 = seq(oid('sha256'), NULL);
  const mask = (hash: Buffer) => tlv(0xa1, seq(oid('mgf1'), hash));
  const salt = (length: bigint) => tlv(0xa2, int(length));
  const hash256 = tlv(0xa0, sha256);
  const signed = (saltLength: number, ...parameters: Buffer[]) =>
    buildRequest({
      key: testKey('rsa'),
      algorithm: seq(oid('rsassaPss'), seq(...parameters)),
      signing: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength },
    });

  it.each([
    ['as OpenSSL does', signed(32, hash256, mask(sha256), salt(32n))],
    ['with the longest salt', signed(222, hash256, mask(sha256), salt(222n))],
    ['with the default salt', signed(20, hash256, mask(sha256))],
    [
      'with an explicit default salt',
      signed(20, hash256, mask(sha256), salt(20n)),
    ],
    [
      'with an explicit trailer',
      signed(32, hash256, mask(sha256), salt(32n), tlv(0xa3, int(1n))),
    ],
    [
      'without parameters for the hash',
      signed(
        32,
        tlv(0xa0, seq(oid('sha256'))),
        mask(seq(oid('sha256'))),
        salt(32n),
      ),
    ],
  ])('is accepted %s', (_, der) => {
    expect(outcomeOf(der)).toBe('read');
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
      'explicit SHA-1',
      signed(20, tlv(0xa0, sha1), mask(sha1)),
    ],
    [
      'unsupported_signature_algorithm',
      'two hashes',
      signed(32, hash256, mask(sha384), salt(32n)),
    ],
    [
      'unsupported_signature_algorithm',
      'a different mask',
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
      'a different trailer',
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
      'a salt of a different length',
      signed(32, hash256, mask(sha256), salt(33n)),
    ],
    [
      'bad_signature',
      'a salt too long for the key',
      signed(32, hash256, mask(sha256), salt(1000n)),
    ],
  ])('%s: %s', (code, _, der) => {
    expect(outcomeOf(der)).toBe(code);
  });

  it('requires parameters', () => {
    const der = buildRequest({
      key: testKey('rsa'),
      algorithm: seq(oid('rsassaPss')),
    });
    expect(outcomeOf(der)).toBe('unsupported_signature_algorithm');
  });
});
