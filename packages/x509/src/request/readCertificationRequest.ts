import { DerNode, TAG } from '../der/DerNode';
import { readBitStringOctets, readChildren, readInteger } from '../der/readDer';
import { readPublicKey } from '../keys/readPublicKey';
import { CertificateRequest } from './CertificateRequest';
import { readAttributes } from './readAttributes';
import { readRequestedExtensions } from './readRequestedExtensions';
import { readSubject } from './readSubject';
import { refuseMalformed, RequestRefusal } from './RequestRefusal';
import { verifyPossession } from './verifyPossession';

/**
 * Reads a CertificationRequest (RFC 2986 §4.2) and checks its proof of possession last, when all it
 * is made of is known to be harmless.
 *
 * @throws RequestRefusal
 */
export function readCertificationRequest(node: DerNode): CertificateRequest {
  if (isPrivateKey(node)) {
    throw new RequestRefusal('private_key');
  }
  const { info, algorithm, signature } = refuseMalformed('not_a_request', () =>
    readOuter(node),
  );
  const { version, subject, publicKey, attributes } = refuseMalformed(
    'not_a_request',
    () => readInfo(info),
  );
  if (version !== 0n) {
    throw new RequestRefusal('bad_version');
  }
  const parts = {
    subject: readSubject(subject),
    ...readRequestedExtensions(readAttributes(attributes)),
    publicKey: refuseMalformed('malformed_key', () => readPublicKey(publicKey)),
  };
  verifyPossession({
    key: parts.publicKey,
    algorithm,
    signature,
    signed: info.der,
  });
  return new CertificateRequest({ ...parts, der: node.der });
}

/**
 * A private key in Base64, with a false label or none. Every form of one (PKCS #1, PKCS #8, SEC 1)
 * begins with a version; requests and certificates do not.
 */
function isPrivateKey({ tag, children }: DerNode): boolean {
  return (
    tag === TAG.sequence &&
    children.length > 1 &&
    children[0].tag === TAG.integer
  );
}

function readOuter(node: DerNode) {
  const [info, algorithm, signature, ...rest] = readChildren(node);
  if (rest.length > 0) {
    throw new RequestRefusal('not_a_request');
  }
  readChildren(algorithm);
  return { info, algorithm, signature: readBitStringOctets(signature) };
}

function readInfo(info: DerNode) {
  const [version, subject, publicKey, attributes, ...rest] = readChildren(info);
  if (rest.length > 0 || publicKey?.tag !== TAG.sequence) {
    throw new RequestRefusal('not_a_request');
  }
  return { version: readInteger(version), subject, publicKey, attributes };
}
