import { DerNode, TAG } from '../der/DerNode';
import { readBitStringOctets, readChildren, readInteger } from '../der/readDer';
import { readPublicKey } from '../keys/readPublicKey';
import { CertificateRequest } from './CertificateRequest';
import { readAttributes } from './readAttributes';
import { readRequestedExtensions } from './readRequestedExtensions';
import { readSubject } from './readSubject';
import { refuseMalformed, RequestRefusal } from '../refusals/RequestRefusal';
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
 * A private key in Base64, with a false label or none. Those in the clear (PKCS #1, PKCS #8, SEC 1),
 * and a PKCS #12 file, begin with a version of one octet; an encrypted PKCS #8 is an algorithm and
 * octets. Requests and certificates are neither.
 */
function isPrivateKey({ tag, children }: DerNode): boolean {
  const [first, second, ...rest] = children;
  if (tag !== TAG.sequence || !second) {
    return false;
  }
  const isVersioned = first.tag === TAG.integer && first.content.length === 1;
  const isEncrypted =
    first.tag === TAG.sequence &&
    second.tag === TAG.octetString &&
    rest.length === 0;
  return isVersioned || isEncrypted;
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
