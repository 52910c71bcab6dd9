import { constructedContextTag, type DerNode, TAG } from '../der/DerNode';
import { OID } from '../der/oids';
import { parseDer } from '../der/parseDer';
import { expectTag, readChildren, readInteger, readTime } from '../der/readDer';
import { readExtensions } from '../extensions/extensions';
import type { RevocationListFields, RevokedCertificate } from './writeTbs';

/**
 * The content of a revocation list; each entry has a reason.
 *
 * @public
 */
export interface ReadRevocationList extends RevocationListFields {
  /** The entries, in order. */
  readonly revoked: readonly Required<RevokedCertificate>[];
}

/**
 * Reads a TBSCertList (RFC 5280 §5.1.2) that `writeTbsCertList` has written.
 *
 * @throws DerError
 */
export function readTbsCertList(der: Buffer): ReadRevocationList {
  const [, , , thisUpdate, nextUpdate, ...optional] = readChildren(
    parseDer(der, { maxNodes: Infinity }),
  );
  const entries = optional.find(({ tag }) => tag === TAG.sequence);
  const tagged = optional.find(({ tag }) => tag === constructedContextTag(0));
  return {
    number: readInteger(findExtension(tagged?.children[0], OID.crlNumber)),
    thisUpdate: readTime(thisUpdate),
    nextUpdate: readTime(nextUpdate),
    revoked: (entries?.children ?? []).map(readRevoked),
  };
}

function readRevoked(entry: DerNode): Required<RevokedCertificate> {
  const [serialNumber, revokedAt, extensions] = readChildren(entry);
  const reason = findExtension(extensions, OID.reasonCode);
  return {
    serialNumber: readInteger(serialNumber),
    revokedAt: readTime(revokedAt),
    reason: reason ? expectTag(reason, TAG.enumerated).content[0] : 0,
  };
}

/** Returns the value of an extension. */
function findExtension(
  extensions: DerNode | undefined,
  oid: string,
): DerNode | undefined {
  const extension =
    extensions && readExtensions(extensions).find(each => each.oid === oid);
  return extension && parseDer(extension.value);
}
