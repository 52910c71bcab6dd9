import { toBigInt } from '../der/readDer';
import { RequestRefusal } from '../refusals/RequestRefusal';

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
