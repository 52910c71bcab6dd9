import { createHash } from 'node:crypto';
import { DerNode, TAG } from '../der/DerNode';
import { OID } from '../der/oids';
import {
  isNull,
  readBitStringOctets,
  readChildren,
  readObjectIdentifier,
  toBigInt,
} from '../der/readDer';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { checkRsaKey } from './checkRsaKey';

/**
 * A public key that passed every check.
 *
 * @public
 */
export interface SubjectPublicKey {
  /** Type of the key. */
  readonly algorithm: 'rsa' | 'ec' | 'ed25519';
  /** DER of the SubjectPublicKeyInfo, as in the request. */
  readonly spki: Buffer;
  /** SHA-256 of `spki`, lowercase hex: identifies the key in records. */
  readonly sha256: string;
}

/** y² = x³ - 3x + b modulo p (SP 800-186 §3.2.1; every cofactor is 1). */
interface Curve {
  readonly p: bigint;
  readonly b: bigint;
  /** Octets of a coordinate. */
  readonly size: number;
}

/** P-256, P-384 and P-521 of FIPS 186 (RFC 5480 §2.1.1.1). */
export const CURVES: ReadonlyMap<string, Curve> = new Map([
  [
    OID.prime256v1,
    {
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
      size: 32,
    },
  ],
  [
    OID.secp384r1,
    {
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
      size: 48,
    },
  ],
  [
    OID.secp521r1,
    {
      p: 2n ** 521n - 1n,
      b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
      size: 66,
    },
  ],
]);

/** Prefix of an uncompressed point (SEC 1 §2.3.3): both coordinates follow. */
const UNCOMPRESSED = 4;

/** The field of RFC 8032 §5.1, and the constant of its curve, -121665/121666. */
const P = 2n ** 255n - 19n;
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) and checks that the key is safe to use.
 *
 * The checks read the DER before the key is passed to OpenSSL: for a point at
 * infinity, Node.js aborts the process when the details of the key are read.
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
  const oid = readObjectIdentifier(type);
  const spki = Buffer.from(node.der);
  return Object.freeze({
    algorithm: checkKey(oid, parameters[0], octets),
    spki,
    sha256: createHash('sha256').update(spki).digest('hex'),
  });
}

function checkKey(
  type: string,
  parameters: DerNode | undefined,
  octets: Buffer,
): SubjectPublicKey['algorithm'] {
  switch (type) {
    case OID.rsaEncryption:
      if (!isNull(parameters)) {
        throw new RequestRefusal('malformed_key');
      }
      checkRsaKey(octets);
      return 'rsa';
    case OID.ecPublicKey:
      checkEcKey(parameters, octets);
      return 'ec';
    case OID.ed25519:
      if (parameters) {
        throw new RequestRefusal('malformed_key');
      }
      checkEd25519Key(octets);
      return 'ed25519';
    default:
      throw new RequestRefusal('unsupported_key');
  }
}

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
): void {
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
}

function isOnCurve(point: Buffer, { p, b, size }: Curve): boolean {
  if (point.length !== 1 + 2 * size || point[0] !== UNCOMPRESSED) {
    return false;
  }
  const x = toBigInt(point.subarray(1, 1 + size));
  const y = toBigInt(point.subarray(1 + size));
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

/**
 * Checks an Ed25519 key (RFC 8410 §4): 32 octets, the y coordinate below p, and
 * none of the eight points of small order, for which OpenSSL before 3.5 accepts
 * forged signatures. OpenSSL checks whether the curve has a point with this y,
 * and otherwise rejects every signature.
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
 * The points of order 1, 2 and 4 have y = 1, -1 and 0. Doubling a point of
 * order 8 results in y = 0, hence y² = -x², and with the curve's equation dy⁴ +
 * 2y² - 1 = 0.
 */
function hasSmallOrder(y: bigint): boolean {
  const ySquared = (y * y) % P;
  return (
    ySquared < 2n || (D * ySquared * ySquared + 2n * ySquared - 1n) % P === 0n
  );
}
