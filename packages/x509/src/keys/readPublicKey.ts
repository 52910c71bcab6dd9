import { KeyObject, createHash, createPublicKey } from 'node:crypto';
import { DerNode } from '../der/DerNode';
import {
  isNull,
  readBitStringOctets,
  readChildren,
  readObjectIdentifier,
  toBigInt,
} from '../der/readDer';
import { OID } from '../der/oids';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { checkEcKey } from './checkEcKey';
import { checkRsaKey } from './checkRsaKey';
import { SubjectPublicKey } from './SubjectPublicKey';

type KeyKind =
  | { algorithm: 'rsa'; bits: number }
  | { algorithm: 'ec'; bits: number; curve: 'P-256' | 'P-384' | 'P-521' }
  | { algorithm: 'ed25519'; bits: number };

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) and lets it through when it is safe to use.
 *
 * All is checked on the DER first, and only then is the key given to OpenSSL: a point at infinity
 * makes Node abort the whole process when it asks such a key for its details.
 *
 * @throws DerError when the structure is another
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
    // OpenSSL's message may quote the key, and says nothing that its owner could use.
    throw new RequestRefusal('malformed_key');
  }
}

/** The field of RFC 8032 §5.1, and the constant of its curve, -121665/121666. */
const P = 2n ** 255n - 19n;
const D = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

/**
 * Checks an Ed25519 key (RFC 8410 §4): 32 octets, the y coordinate below p, and none of the eight
 * points of small order, for which OpenSSL before 3.5 takes signatures that anybody can make. Whether
 * the curve has a point with this y is left to OpenSSL, which finds every signature wrong if not.
 *
 * @throws RequestRefusal when the key is not accepted
 */
export function checkEd25519Key(octets: Buffer): void {
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
