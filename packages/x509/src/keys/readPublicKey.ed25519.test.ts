import { buildRequest } from '../__testUtils__/buildRequest';
import { outcomeOf } from '../__testUtils__/outcomeOf';
import { testKey } from '../__testUtils__/testKeys';
import { bits, oid, seq } from '../__testUtils__/tlv';

describe('Ed25519 points of small order', () => {
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

  it('are refused even though a forged signature verifies', () => {
    // With s = 1, R is the base point: OpenSSL 3.0 (Node 22) accepts it as a
    // signature of a key of order 1.
    const basePoint = Buffer.from('58'.padEnd(64, '6'), 'hex');
    const signature = Buffer.concat([
      basePoint,
      Buffer.of(1),
      Buffer.alloc(31),
    ]);
    const spki = spkiOf(points[0]);
    const der = buildRequest({ key: testKey('ed25519'), spki, signature });
    expect(outcomeOf(der)).toBe('invalid_point');
  });

  it.each([
    ...points,
    // y = p, y = p + 1 and the largest y: unreduced forms of 0, 1 and 18
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  ])('are refused: %s', hex => {
    const der = buildRequest({ key: testKey('ed25519'), spki: spkiOf(hex) });
    expect(outcomeOf(der)).toBe('invalid_point');
  });

  it('are distinguished from a y coordinate that is not on the curve', () => {
    // y = 2 has no x.
    const der = buildRequest({
      key: testKey('ed25519'),
      spki: spkiOf('02'.padEnd(64, '0')),
    });
    expect(outcomeOf(der)).toBe('bad_signature');
  });
});
