import { generateKeyPairSync } from 'node:crypto';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { parseDer } from '../der/parseDer';
import { int, NULL, oid, seq } from '../__testUtils__/tlv';
import { testKey } from '../__testUtils__/testKeys';
import { OID } from '../der/oids';
import { checkEcKey, CURVES } from './readPublicKey';

function codeOf(parameters: Buffer | undefined, point: Buffer): string {
  try {
    checkEcKey(parameters && parseDer(parameters), point);
    return 'accepted';
  } catch (error) {
    return error instanceof RequestRefusal ? error.code : `threw ${error}`;
  }
}

describe.each([
  ['P-256', 'prime256v1', 32],
  ['P-384', 'secp384r1', 48],
  ['P-521', 'secp521r1', 66],
] as const)('%s', (name, curveName, size) => {
  const point = testKey(name).spki.subarray(-(2 * size + 1));
  const curve = oid(curveName);
  const p = CURVES.get(OID[curveName])?.p ?? 0n;
  const coordinate = (value: bigint) =>
    Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex');
  const x = BigInt(`0x${point.subarray(1, 1 + size).toString('hex')}`);
  const y = BigInt(`0x${point.subarray(1 + size).toString('hex')}`);
  const pointOf = (...numbers: bigint[]) =>
    Buffer.concat([Buffer.of(4), ...numbers.map(coordinate)]);

  it('accepts points on the curve', () => {
    expect(codeOf(curve, point)).toBe('accepted');
    expect(codeOf(curve, pointOf(x, p - y))).toBe('accepted');
  });

  it.each<[string, Buffer]>([
    ['infinity', Buffer.of(0)],
    ['nothing', Buffer.alloc(0)],
    ['zero', pointOf(0n, 0n)],
    ['the compressed form', Buffer.concat([Buffer.of(2), coordinate(x)])],
    ['the hybrid form', Buffer.concat([Buffer.of(6), point.subarray(1)])],
    ['infinity and more', Buffer.concat([Buffer.of(0), point.subarray(1)])],
    ['a point that is not on the curve', pointOf(x, y ^ 1n)],
    ['swapped coordinates', pointOf(y, x)],
    ['y = p', pointOf(x, p)],
    ['one octet less', point.subarray(0, -1)],
    ['one octet more', Buffer.concat([point, Buffer.of(0)])],
  ])('refuses %s', (_, octets) => {
    expect(codeOf(curve, octets)).toBe('invalid_point');
  });
});

it('refuses a coordinate that is not reduced modulo p', () => {
  const point = testKey('P-521').spki.subarray(-133);
  const x =
    BigInt(`0x${point.subarray(1, 67).toString('hex')}`) + 2n ** 521n - 1n;
  const spelling = Buffer.from(x.toString(16).padStart(132, '0'), 'hex');
  const other = Buffer.concat([Buffer.of(4), spelling, point.subarray(67)]);
  expect(codeOf(oid('secp521r1'), other)).toBe('invalid_point');
});

it('refuses other curves, explicit parameters and missing parameters', () => {
  const k256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey;
  const point = k256.export({ type: 'spki', format: 'der' }).subarray(-65);
  const explicit = seq(int(1n), seq(oid('1.2.840.10045.1.1'), int(7n)));
  for (const parameters of [oid('1.3.132.0.10'), explicit, NULL, undefined]) {
    expect(codeOf(parameters, point)).toBe('unsupported_curve');
  }
});
