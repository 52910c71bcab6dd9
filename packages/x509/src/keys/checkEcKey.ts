import { DerNode, TAG } from '../der/DerNode';
import { readObjectIdentifier, toBigInt } from '../der/readDer';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { Curve, CURVES } from './SubjectPublicKey';

/** SEC 1 §2.3.3: the form with both coordinates. */
const UNCOMPRESSED = 4;

/**
 * Checks an EC key: one of the named curves (RFC 5480 §2.1.1; parameters spelled out are how
 * CVE-2020-0601 forged keys), and an uncompressed point of it.
 *
 * @throws DerError when the curve's name is malformed
 * @throws RequestRefusal when the key is not accepted
 */
export function checkEcKey(
  parameters: DerNode | undefined,
  point: Buffer,
): Curve {
  const curve =
    parameters?.tag === TAG.oid
      ? CURVES.get(readObjectIdentifier(parameters))
      : undefined;
  if (!curve) {
    throw new RequestRefusal('unsupported_curve');
  }
  if (!isOnCurve(point, curve)) {
    throw new RequestRefusal('invalid_point');
  }
  return curve;
}

function isOnCurve(point: Buffer, { bits, p, b }: Curve): boolean {
  const size = Math.ceil(bits / 8);
  if (point.length !== 1 + 2 * size || point[0] !== UNCOMPRESSED) {
    return false;
  }
  const x = toBigInt(point.subarray(1, 1 + size));
  const y = toBigInt(point.subarray(1 + size));
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}
