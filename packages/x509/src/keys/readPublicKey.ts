import { KeyObject, createHash, createPublicKey } from 'node:crypto';
import { DerNode, TAG } from '../der/DerNode';
import {
  isNull,
  readBitStringOctets,
  readChildren,
  readObjectIdentifier,
  toBigInt,
} from '../der/readDer';
import { OID } from '../der/oids';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { checkRsaKey } from './checkRsaKey';
import { Curve, CurveName, CURVES, SubjectPublicKey } from './SubjectPublicKey';

type KeyKind =
  | { algorithm: 'rsa'; bits: number }
  | { algorithm: 'ec'; bits: number; curve: CurveName }
  | { algorithm: 'ed25519'; bits: number };

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) and checks that the key is safe to use.
 *
 * The checks read the DER, before OpenSSL gets the key: for a point at infinity, Node aborts the
 * process when the details of the key are read.
 *
 * @throws DerError when the structure is malformed
 * @throws RequestRefusal when the key is not accepted
 */
export function readPublicKey(node: DerNode): SubjectPublicKey {
  const [algorithm, key, ...rest] = readChildren(node);
  const [type, ...parameters] = readChildren(algorithm);
  const octets = readBitStringOctets(key);
  if (rest.length > 0 || parameters.length > 1) {
    throw new RequestRefusal('malformed_key');
  }
  const kind = checkKey(readObjectIdentifier(type), parameters[0], octets);
  const spki = Buffer.from(node.der);
  return Object.freeze({
    ...kind,
    spki,
    sha256: createHash('sha256').update(spki).digest('hex'),
    keyObject: toKeyObject(spki),
  });
}

function checkKey(
  type: string,
  parameters: DerNode | undefined,
  octets: Buffer,
): KeyKind {
  switch (type) {
    case OID.rsaEncryption:
      if (!isNull(parameters)) {
        throw new RequestRefusal('malformed_key');
      }
      return { algorithm: 'rsa', bits: checkRsaKey(octets) };
    case OID.ecPublicKey: {
      const { name, bits } = checkEcKey(parameters, octets);
      return { algorithm: 'ec', bits, curve: name };
    }
    case OID.ed25519:
      if (parameters) {
        throw new RequestRefusal('malformed_key');
      }
      checkEd25519Key(octets);
      return { algorithm: 'ed25519', bits: 256 };
    default:
      throw new RequestRefusal('unsupported_key');
  }
}

function toKeyObject(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    // OpenSSL's message may contain the key, and does not help its owner.
    throw new RequestRefusal('malformed_key');
  }
}

/** The field of RFC 8032 §5.1, and the constant of its curve, -121665/121666. */
const P = 2n ** 255n - 19n;
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/**
 * Checks an Ed25519 key (RFC 8410 §4): 32 octets, the y coordinate below p, and none of the eight
 * points of small order, for which OpenSSL before 3.5 accepts forged signatures. Whether the curve has
 * a point with this y is left to OpenSSL, which otherwise rejects every signature.
 *
 * @throws RequestRefusal when the key is not accepted
 */
function checkEd25519Key(octets: Buffer): void {
  if (octets.length !== 32) {
    throw new RequestRefusal('malformed_key');
  }
  // RFC 8032 §5.1.3: little-endian, with the sign of x in the highest bit.
  const y = BigInt.asUintN(255, toBigInt(Buffer.from(octets).reverse()));
  if (y >= P || hasSmallOrder(y)) {
    throw new RequestRefusal('invalid_point');
  }
}

/**
 * Order 1, 2 and 4 are y = 1, -1 and 0. A point of order 8 doubles to y = 0, hence y² = -x², and with
 * the curve's equation dy⁴ + 2y² - 1 = 0.
 */
function hasSmallOrder(y: bigint): boolean {
  const ySquared = (y * y) % P;
  return (
    ySquared < 2n || (D * ySquared * ySquared + 2n * ySquared - 1n) % P === 0n
  );
}

/** SEC 1 §2.3.3: both coordinates follow. */
const UNCOMPRESSED = 4;

/**
 * Checks an EC key: an uncompressed point on a named curve (RFC 5480 §2.1.1; CVE-2020-0601 forged keys
 * with explicit parameters).
 *
 * @throws DerError when the OID of the curve is malformed
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
