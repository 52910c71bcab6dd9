import { constants } from 'node:crypto';
import { DerNode } from '../der/DerNode';
import { isNull, readChildren, readObjectIdentifier } from '../der/readDer';
import { SubjectPublicKey } from '../keys/SubjectPublicKey';
import { OID } from '../der/oids';
import { HashName } from './hashAlgorithms';
import { readPssParameters } from './readPssParameters';
import { RequestRefusal } from '../refusals/RequestRefusal';

/** How to call OpenSSL for a signature. */
export interface SignatureAlgorithm {
  /** The keys that it is for. */
  readonly key: SubjectPublicKey['algorithm'];
  /** undefined: the algorithm has its own. */
  readonly hash?: HashName;
  /** Of RSA: a constant of `node:crypto`. */
  readonly padding?: number;
  /** Of RSASSA-PSS: bytes. */
  readonly saltLength?: number;
}

/** RFC 4055 §5, RFC 5758 §3.2, RFC 8410 §3. */
const ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [OID.sha256WithRsaEncryption, { key: 'rsa', hash: 'sha256' }],
  [OID.sha384WithRsaEncryption, { key: 'rsa', hash: 'sha384' }],
  [OID.sha512WithRsaEncryption, { key: 'rsa', hash: 'sha512' }],
  [OID.ecdsaWithSha256, { key: 'ec', hash: 'sha256' }],
  [OID.ecdsaWithSha384, { key: 'ec', hash: 'sha384' }],
  [OID.ecdsaWithSha512, { key: 'ec', hash: 'sha512' }],
  [OID.ed25519, { key: 'ed25519' }],
]);

/** Those over MD2, MD4, MD5 and SHA-1, with RSA, DSA and ECDSA (RFC 3279 §2.2; OIW's of old). */
const WEAK_ALGORITHMS: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.3',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.3',
  '1.3.14.3.2.29',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
]);

/**
 * Reads the algorithm that a request is signed with.
 *
 * @throws DerError when the structure is another
 * @throws RequestRefusal when the algorithm is not accepted
 */
export function readSignatureAlgorithm(node: DerNode): SignatureAlgorithm {
  const [type, parameters, ...rest] = readChildren(node);
  const oid = readObjectIdentifier(type);
  if (WEAK_ALGORITHMS.has(oid)) {
    throw new RequestRefusal('weak_signature_algorithm');
  }
  if (rest.length > 0) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  if (oid === OID.rsassaPss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return { key: 'rsa', padding, ...readPssParameters(parameters) };
  }
  const algorithm = ALGORITHMS.get(oid);
  if (!algorithm || !fits(parameters, algorithm)) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return algorithm;
}

/** RFC 4055 §5 has NULL for RSA, and that its absence must be accepted; the others have none. */
function fits(
  parameters: DerNode | undefined,
  { key }: SignatureAlgorithm,
): boolean {
  return parameters === undefined || (key === 'rsa' && isNull(parameters));
}
