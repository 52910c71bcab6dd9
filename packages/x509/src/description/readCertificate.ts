import { DerError } from '../der/DerError';
import { constructedContextTag, DerNode, TAG } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import { readChildren, readInteger, readOnlyChild } from '../der/readDer';
import { readTime } from '../der/readTime';
import { Extension, readExtensions } from '../extensions/extensions';

/** The fields of a certificate, names and key still unread. */
export interface CertificateParts {
  readonly serialNumber: bigint;
  readonly issuer: DerNode;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly subject: DerNode;
  readonly publicKey: DerNode;
  /** By OID. Of an extension that is there twice, the first. */
  readonly extensions: ReadonlyMap<string, Extension>;
}

/**
 * Takes a certificate apart (RFC 5280 §4.1). Its signature is not looked at.
 *
 * @throws DerError
 */
export function readCertificate(der: Buffer): CertificateParts {
  const [tbs, algorithm, signature, ...rest] = readChildren(parseDer(der));
  if (
    algorithm?.tag !== TAG.sequence ||
    signature?.tag !== TAG.bitString ||
    rest.length > 0
  ) {
    throw new DerError('A certificate has three parts');
  }
  const fields = [...readChildren(tbs)];
  if (fields[0]?.tag === constructedContextTag(0)) {
    fields.shift();
  }
  const [serialNumber, , issuer, validity, subject, publicKey, ...optional] =
    fields;
  const [notBefore, notAfter] = readChildren(validity);
  readChildren(issuer);
  readChildren(subject);
  readChildren(publicKey);
  return {
    serialNumber: readInteger(serialNumber),
    issuer,
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    subject,
    publicKey,
    extensions: readOptionalExtensions(optional),
  };
}

/** Unique identifiers, [1] and [2], may come before. */
function readOptionalExtensions(
  fields: readonly DerNode[],
): Map<string, Extension> {
  const tag = constructedContextTag(3);
  const tagged = fields.find(field => field.tag === tag);
  const extensions = tagged ? readExtensions(readOnlyChild(tagged, tag)) : [];
  // A Map keeps the last of equal keys.
  return new Map(
    extensions.reverse().map(extension => [extension.oid, extension]),
  );
}
