import { readArmor } from './readArmor';
import {
  catchDerError,
  DerErrorKind,
  DerNode,
  TAG,
  constructedContextTag,
} from '../der/DerNode';
import { readStrictDer } from '../der/readStrictDer';
import { CertificateRequest } from './CertificateRequest';
import {
  RefusalCode,
  RequestRefusal,
  refuseMalformed,
} from '../refusals/RequestRefusal';
import {
  expectTag,
  readBitStringOctets,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { readPublicKey } from '../keys/readPublicKey';
import { readRequestedNames } from './readRequestedNames';
import { readSubject } from './readSubject';
import { verifyPossession } from './verifyPossession';
import { OID } from '../der/oids';

const CODES: Record<DerErrorKind, RefusalCode> = {
  malformed: 'malformed',
  trailing: 'trailing_data',
  complex: 'too_complex',
};

/** Maximum size of a PEM text in bytes. */
const MAX_BYTES = 65_536;

/**
 * Valid requests by their DER, so that a CA in the gateway's process does not
 * parse the same request again.
 */
const valid = new WeakMap<Buffer, CertificateRequest>();

/**
 * Result of {@link readCertificateRequest}: the parsed request, or the reason
 * for its refusal. `code` is stable; `message` is a sentence for the sender.
 * Neither of them contains any part of the input.
 *
 * @public
 */
export type CertificateRequestResult =
  | { readonly ok: true; readonly csr: CertificateRequest }
  | {
      readonly ok: false;
      readonly code: RefusalCode;
      readonly message: string;
    };

/**
 * Parses an untrusted certificate request and verifies its proof of possession. Does not throw on
 * malformed input.
 *
 * @param csr - PEM, Base64 or DER; 64 KiB at most. The `der` buffer of a returned request is not parsed again.
 *
 * @public
 */
export function readCertificateRequest(
  csr: string | Buffer,
): CertificateRequestResult {
  const known = typeof csr === 'string' ? undefined : valid.get(csr);
  if (known) {
    return { ok: true, csr: known };
  }
  try {
    if (Buffer.byteLength(csr) > MAX_BYTES) {
      throw new RequestRefusal('too_large');
    }
    const der = typeof csr === 'string' ? readArmor(csr) : csr;
    const node = catchDerError(
      () => readStrictDer(der),
      ({ kind }) => {
        throw new RequestRefusal(CODES[kind]);
      },
    );
    const request = readCertificationRequest(node);
    valid.set(request.der, request);
    return { ok: true, csr: request };
  } catch (error) {
    if (error instanceof RequestRefusal) {
      return { ok: false, code: error.code, message: error.message };
    }
    throw error;
  }
}

/**
 * Reads a CertificationRequest (RFC 2986 §4.2). The signature is verified last,
 * after every part has passed its checks.
 *
 * @throws RequestRefusal
 */
function readCertificationRequest(node: DerNode): CertificateRequest {
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
    alternativeNames: readRequestedNames(readAttributes(attributes)),
    publicKey: refuseMalformed('malformed_key', () => readPublicKey(publicKey)),
  };
  const verified = verifyPossession({
    key: parts.publicKey,
    algorithm,
    signature,
    signed: info.der,
  });
  return new CertificateRequest({
    ...parts,
    signature: verified,
    der: node.der,
  });
}

/**
 * Detects a private key with a wrong label or without a label. An unencrypted
 * key (PKCS #1, PKCS #8, SEC 1) and a PKCS #12 file start with a version of one
 * octet; an encrypted PKCS #8 key is an algorithm followed by octets. A request
 * or certificate is neither.
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

/**
 * Maximum number of attributes. Windows sends four, more than any other client.
 */
const MAX_ATTRIBUTES = 32;

/**
 * Finds the requested extensions (RFC 2985 §5.4.2) among the attributes of a
 * request. Other attributes are ignored: challenge passwords, information about
 * the Windows client, and Microsoft's own list of extensions, which is not a
 * standard request for extensions.
 *
 * @param node - undefined when the request has no attributes, as from some old clients
 * @returns the Extensions; undefined when none are requested
 */
function readAttributes(node: DerNode | undefined): DerNode | undefined {
  if (!node) {
    return undefined;
  }
  return refuseMalformed('bad_attributes', () => {
    const attributes = readChildren(node, constructedContextTag(0));
    if (attributes.length > MAX_ATTRIBUTES) {
      throw new RequestRefusal('bad_attributes');
    }
    return findExtensions(attributes);
  });
}

function findExtensions(attributes: readonly DerNode[]): DerNode | undefined {
  const valuesByType = new Map<string, DerNode>();
  for (const attribute of attributes) {
    const [type, values, ...rest] = readChildren(attribute);
    const oid = readObjectIdentifier(type);
    if (rest.length > 0 || readChildren(values, TAG.set).length === 0) {
      throw new RequestRefusal('bad_attributes');
    }
    if (valuesByType.has(oid)) {
      throw new RequestRefusal('duplicate_attribute');
    }
    valuesByType.set(oid, values);
  }
  const values = valuesByType.get(OID.extensionRequest);
  return values && expectTag(readOnlyChild(values, TAG.set), TAG.sequence);
}
