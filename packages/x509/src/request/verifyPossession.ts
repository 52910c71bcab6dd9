import { constants, verify } from 'node:crypto';
import { DerError, DerNode, constructedContextTag } from '../der/DerNode';
import {
  isNull,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import { SubjectPublicKey } from '../keys/SubjectPublicKey';
import { RequestRefusal, refuseMalformed } from '../refusals/RequestRefusal';
import { OID } from '../der/oids';

/** The same by their OIDs (RFC 4055 §2.1). */
export const HASHES: ReadonlyMap<string, HashName> = new Map([
  [OID.sha256, 'sha256'],
  [OID.sha384, 'sha384'],
  [OID.sha512, 'sha512'],
]);

/**
 * Checks that whoever signed the request holds the private key to its public key (RFC 2986 §3).
 *
 * @param options - `signed` is the CertificationRequestInfo as it came, never encoded anew
 * @throws RequestRefusal
 */
export function verifyPossession(options: {
  key: SubjectPublicKey;
  algorithm: DerNode;
  signed: Buffer;
  signature: Buffer;
}): void {
  const { key, signed, signature } = options;
  const algorithm = refuseMalformed('unsupported_signature_algorithm', () =>
    readSignatureAlgorithm(options.algorithm),
  );
  if (algorithm.key !== key.algorithm) {
    throw new RequestRefusal('signature_algorithm_mismatch');
  }
  if (key.algorithm === 'ec' && !isEcdsaSignature(signature)) {
    throw new RequestRefusal('bad_signature');
  }
  if (!verifies({ algorithm, key, signed, signature })) {
    throw new RequestRefusal('bad_signature');
  }
}

/** Ecdsa-Sig-Value (RFC 3279 §2.2.3) with two numbers that can be right (CVE-2022-21449). */
function isEcdsaSignature(signature: Buffer): boolean {
  try {
    const [r, s, ...rest] = readChildren(readStrictDer(signature)).map(
      readInteger,
    );
    return r > 0n && s > 0n && rest.length === 0;
  } catch (error) {
    if (error instanceof DerError) {
      return false;
    }
    throw error;
  }
}

function verifies(options: {
  algorithm: SignatureAlgorithm;
  key: SubjectPublicKey;
  signed: Buffer;
  signature: Buffer;
}): boolean {
  const { algorithm, key, signed, signature } = options;
  const { hash, padding, saltLength } = algorithm;
  try {
    return verify(
      hash,
      signed,
      { key: key.keyObject, padding, saltLength },
      signature,
    );
  } catch {
    // OpenSSL finds some of these keys and signatures unusable rather than wrong.
    return false;
  }
}

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

/** The default of RFC 4055 §3.1, and the shortest that is in use. */
const MIN_SALT_BYTES = 20n;

/** As much as the largest key has room for. */
const MAX_SALT_BYTES = 1024n;

/** What a signature with RSASSA-PSS is verified with. */
export interface PssParameters {
  readonly hash: HashName;
  readonly saltLength: number;
}

/**
 * Reads RSASSA-PSS-params (RFC 4055 §3.1). Both hashes must be spelled out, since their default is
 * SHA-1, and must be the same, as OpenSSL and everybody else has it.
 *
 * @throws DerError when the structure is another
 * @throws RequestRefusal when a parameter is not accepted
 */
export function readPssParameters(node: DerNode | undefined): PssParameters {
  const fields = [...readChildren(node)];
  const take = (number: number) =>
    fields[0]?.tag === constructedContextTag(number)
      ? readOnlyChild(fields.shift(), constructedContextTag(number))
      : undefined;

  const hashAlgorithm = take(0);
  const maskAlgorithm = take(1);
  const saltField = take(2);
  const trailerField = take(3);
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
  return { hash, saltLength: Number(saltLength) };
}

function readMaskHash(node: DerNode): HashName {
  const [type, hash, ...rest] = readChildren(node);
  if (readObjectIdentifier(type) !== OID.mgf1 || rest.length > 0) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return readHash(hash);
}

/** RFC 4055 §2.1: the parameters are NULL, or absent. */
function readHash(node: DerNode): HashName {
  const [type, parameters, ...rest] = readChildren(node);
  const hash = HASHES.get(readObjectIdentifier(type));
  if (!hash || rest.length > 0 || (parameters && !isNull(parameters))) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return hash;
}

/** A hash that may be signed, by its name in `node:crypto`. */
export type HashName = 'sha256' | 'sha384' | 'sha512';
