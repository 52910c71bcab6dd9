import { verify } from 'node:crypto';
import { DerError } from '../der/DerError';
import { DerNode } from '../der/DerNode';
import { readChildren, readInteger } from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import { SubjectPublicKey } from '../keys/SubjectPublicKey';
import {
  readSignatureAlgorithm,
  SignatureAlgorithm,
} from './readSignatureAlgorithm';
import { refuseMalformed, RequestRefusal } from '../refusals/RequestRefusal';

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
