import { DerError, DerNode, TAG } from '../der/DerNode';
import {
  readBoolean,
  readChildren,
  readObjectIdentifier,
  readOctetString,
} from '../der/readDer';

/** An extension; its value is not parsed. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** The DER inside the OCTET STRING. */
  readonly value: Buffer;
}

/**
 * Reads Extensions (RFC 5280 §4.1) in the order of the encoding.
 *
 * @throws DerError
 */
export function readExtensions(node: DerNode): Extension[] {
  return readChildren(node).map(readExtension);
}

function readExtension(node: DerNode): Extension {
  const [type, ...fields] = readChildren(node);
  const critical =
    fields[0]?.tag === TAG.boolean ? readBoolean(fields.shift()) : false;
  const [value, ...rest] = fields;
  if (rest.length > 0) {
    throw new DerError('An extension has additional fields');
  }
  return {
    oid: readObjectIdentifier(type),
    critical,
    value: readOctetString(value),
  };
}

/** The bits of KeyUsage in order (RFC 5280 §4.2.1.3). */
export const KEY_USAGES: readonly KeyUsage[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

/**
 * A usage of a key (RFC 5280 §4.2.1.3).
 *
 * @public
 */
export type KeyUsage =
  | 'digitalSignature'
  | 'nonRepudiation'
  | 'keyEncipherment'
  | 'dataEncipherment'
  | 'keyAgreement'
  | 'keyCertSign'
  | 'cRLSign'
  | 'encipherOnly'
  | 'decipherOnly';

/**
 * OIDs of purposes (RFC 5280 §4.2.1.12, RFC 4556 §3.2.2, [MS-WCCE]).
 *
 * @public
 */
export const KEY_PURPOSES: Readonly<Record<KeyPurpose, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  anyExtendedKeyUsage: '2.5.29.37.0',
  pkinitClientAuth: '1.3.6.1.5.2.3.4',
  smartcardLogon: '1.3.6.1.4.1.311.20.2.2',
};

/**
 * Purposes of a CA, a KDC or another trusted service, which a user could
 * impersonate with such a certificate: besides the named ones, those of a KDC
 * (RFC 4556 §3.2.4), a CMC CA and registration authority (RFC 6402 §2.10),
 * precertificates (RFC 6962 §3.1) and Microsoft's enrollment agent.
 */
const RESERVED_PURPOSES: ReadonlySet<string> = new Set([
  KEY_PURPOSES.OCSPSigning,
  KEY_PURPOSES.anyExtendedKeyUsage,
  KEY_PURPOSES.timeStamping,
  '1.3.6.1.5.2.3.5',
  '1.3.6.1.5.5.7.3.27',
  '1.3.6.1.5.5.7.3.28',
  '1.3.6.1.4.1.11129.2.4.4',
  '1.3.6.1.4.1.311.20.2.1',
]);

/**
 * Returns the OID of a key purpose, which may have a name.
 *
 * @public
 */
export function purposeOid(purpose: string): string {
  return Object.hasOwn(KEY_PURPOSES, purpose)
    ? KEY_PURPOSES[purpose as KeyPurpose]
    : purpose;
}

/**
 * Returns whether a key purpose is reserved for CAs, KDCs and other trusted
 * services, so that a user's certificate must not have it.
 *
 * @param purpose - a name such as `OCSPSigning`, or an OID
 *
 * @public
 */
export function isReservedPurpose(purpose: string): boolean {
  return RESERVED_PURPOSES.has(purposeOid(purpose));
}

/**
 * A key purpose that has a name; other purposes are given as OIDs.
 *
 * @public
 */
export type KeyPurpose =
  | 'serverAuth'
  | 'clientAuth'
  | 'codeSigning'
  | 'emailProtection'
  | 'timeStamping'
  | 'OCSPSigning'
  | 'anyExtendedKeyUsage'
  | 'pkinitClientAuth'
  | 'smartcardLogon';
