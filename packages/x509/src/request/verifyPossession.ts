import { constants, verify } from 'node:crypto';
import { catchDerError, constructedContextTag, DerNode } from '../der/DerNode';
import { OID } from '../der/oids';
import {
  isNull,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import type { SignatureHash } from '../issuing/SigningKey';
import { SubjectPublicKey } from '../keys/readPublicKey';
import { RequestRefusal, refuseMalformed } from '../refusals/RequestRefusal';
import type { RequestSignature } from './CertificateRequest';

/** Accepted hashes (RFC 4055 §2.1). */
const HASHES: ReadonlyMap<string, SignatureHash> = new Map([
  [OID.sha256, 'sha256'],
  [OID.sha384, 'sha384'],
  [OID.sha512, 'sha512'],
]);

/** A signature algorithm, in the terms of `node:crypto`. */
interface SignatureAlgorithm {
  readonly keyType: SubjectPublicKey['algorithm'];
  /** undefined: part of the algorithm. */
  readonly hash?: SignatureHash;
  /** RSA only. */
  readonly padding?: number;
  /** RSASSA-PSS only; bytes. */
  readonly saltLength?: number;
}

/** RFC 4055 §5, RFC 5758 §3.2, RFC 8410 §3. */
const ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [OID.sha256WithRsaEncryption, { keyType: 'rsa', hash: 'sha256' }],
  [OID.sha384WithRsaEncryption, { keyType: 'rsa', hash: 'sha384' }],
  [OID.sha512WithRsaEncryption, { keyType: 'rsa', hash: 'sha512' }],
  [OID.ecdsaWithSha256, { keyType: 'ec', hash: 'sha256' }],
  [OID.ecdsaWithSha384, { keyType: 'ec', hash: 'sha384' }],
  [OID.ecdsaWithSha512, { keyType: 'ec', hash: 'sha512' }],
  [OID.ed25519, { keyType: 'ed25519' }],
]);

/**
 * Refused algorithms: MD2, MD4, MD5 and SHA-1 with RSA, DSA and ECDSA (RFC 3279
 * §2.2, and those of OIW).
 */
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
 * Minimum salt length: the default of RFC 4055 §3.1, and the shortest in use.
 */
const MIN_SALT_BYTES = 20n;

/** Maximum salt length: that of the largest accepted key. */
const MAX_SALT_BYTES = 1024n;

/**
 * Verifies that the signer of a request possesses the private key of its public
 * key (RFC 2986 §3).
 *
 * @param options - `signed` is the CertificationRequestInfo as received, not
 *   re-encoded
 * @returns the signature algorithm
 * @throws RequestRefusal
 */
export function verifyPossession(options: {
  key: SubjectPublicKey;
  algorithm: DerNode;
  signed: Buffer;
  signature: Buffer;
}): RequestSignature {
  const { key, signed, signature } = options;
  const { keyType, hash, ...padding } = refuseMalformed(
    'unsupported_signature_algorithm',
    () => readSignatureAlgorithm(options.algorithm),
  );
  if (keyType !== key.algorithm) {
    throw new RequestRefusal('signature_algorithm_mismatch');
  }
  if (keyType === 'ec' && !isEcdsaSignature(signature)) {
    throw new RequestRefusal('bad_signature');
  }
  let isValid = false;
  try {
    isValid = verify(
      hash,
      signed,
      // Creating a KeyObject takes longer, and it would be used only once.
      { key: key.spki, format: 'der', type: 'spki', ...padding },
      signature,
    );
  } catch {
    // OpenSSL throws for some invalid keys and signatures.
  }
  if (!isValid) {
    throw new RequestRefusal('bad_signature');
  }
  return padding.padding === undefined ? keyType : 'rsa-pss';
}

/** Ecdsa-Sig-Value (RFC 3279 §2.2.3) with two positive numbers (CVE-2022-21449). */
function isEcdsaSignature(signature: Buffer): boolean {
  return catchDerError(
    () => {
      const values = readChildren(readStrictDer(signature)).map(readInteger);
      return values.length === 2 && values.every(value => value > 0n);
    },
    () => false,
  );
}

/**
 * Reads the signature algorithm of a request.
 *
 * @throws DerError when the structure is malformed
 * @throws RequestRefusal when the algorithm is not accepted
 */
function readSignatureAlgorithm(node: DerNode): SignatureAlgorithm {
  const [type, parameters, ...rest] = readChildren(node);
  const oid = readObjectIdentifier(type);
  if (WEAK_ALGORITHMS.has(oid)) {
    throw new RequestRefusal('weak_signature_algorithm');
  }
  if (oid === OID.rsassaPss && rest.length === 0) {
    return readPss(parameters);
  }
  const algorithm = ALGORITHMS.get(oid);
  // RFC 4055 §5: NULL for RSA, whose absence must be accepted; the others have no parameters.
  const hasParameters =
    parameters && !(algorithm?.keyType === 'rsa' && isNull(parameters));
  if (!algorithm || hasParameters || rest.length > 0) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return algorithm;
}

/**
 * Reads RSASSA-PSS-params (RFC 4055 §3.1). Both hashes must be explicit, because their default is
 * SHA-1, and equal, as OpenSSL and others require.
 */
function readPss(node: DerNode | undefined): SignatureAlgorithm {
  const fields = [...readChildren(node)];
  const shift = (number: number) =>
    fields[0]?.tag === constructedContextTag(number)
      ? readOnlyChild(fields.shift(), constructedContextTag(number))
      : undefined;

  const hashAlgorithm = shift(0);
  const maskAlgorithm = shift(1);
  const saltField = shift(2);
  const trailerField = shift(3);
  if (!hashAlgorithm || !maskAlgorithm) {
    throw new RequestRefusal('weak_signature_algorithm');
  }
  const hash = readHash(hashAlgorithm);
  const saltLength = saltField ? readInteger(saltField) : MIN_SALT_BYTES;
  const trailer = trailerField ? readInteger(trailerField) : 1n;
  if (
    fields.length > 0 ||
    trailer !== 1n ||
    saltLength < MIN_SALT_BYTES ||
    saltLength > MAX_SALT_BYTES ||
    readMaskHash(maskAlgorithm) !== hash
  ) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return {
    keyType: 'rsa',
    hash,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: Number(saltLength),
  };
}

function readMaskHash(node: DerNode): SignatureHash {
  const [type, hash, ...rest] = readChildren(node);
  if (readObjectIdentifier(type) !== OID.mgf1 || rest.length > 0) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return readHash(hash);
}

/** RFC 4055 §2.1: the parameters are NULL, or absent. */
function readHash(node: DerNode): SignatureHash {
  const [type, parameters, ...rest] = readChildren(node);
  const hash = HASHES.get(readObjectIdentifier(type));
  if (!hash || rest.length > 0 || (parameters && !isNull(parameters))) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return hash;
}
