import { KeyUsage } from '../extensions/keyUsages';
import { GeneralName } from '../names/GeneralName';

/**
 * What a certificate says, in the forms that FreeIPA uses. Frozen.
 *
 * @public
 */
export interface CertificateDescription {
  /** PEM, with `\n` as line ends and one at the end. */
  readonly pem: string;
  /** Base64 of the DER, on one line. */
  readonly base64: string;
  readonly serialNumber: bigint;
  /** `0x` and upper-case digits: `0xC`. */
  readonly serialNumberHex: string;
  /** As RFC 4514 writes it, most specific part first: `CN=alice,O=EXAMPLE.TEST`. */
  readonly issuer: string;
  /** As `issuer`. */
  readonly subject: string;
  /** As RFC 822 has it, in UTC: `Fri, 06 May 2022 06:22:53 -0000`. */
  readonly validNotBefore: string;
  /** As `validNotBefore`; the certificate is still valid at this second. */
  readonly validNotAfter: string;
  /** The same as milliseconds since 1970. */
  readonly notBefore: number;
  /** The same as milliseconds since 1970. */
  readonly notAfter: number;
  /** Lower-case hex with colons. */
  readonly sha1Fingerprint: string;
  /** Lower-case hex with colons. */
  readonly sha256Fingerprint: string;
  /** Every alternative name in the order of the encoding. */
  readonly alternativeNames: readonly GeneralName[];
  /** The same by kind, as text. */
  readonly san: AlternativeNamesByKind;
  /** Whether the certificate is a CA's. */
  readonly ca: boolean;
  /** undefined: the key may be used for everything. */
  readonly keyUsage: readonly KeyUsage[] | undefined;
  /** Names as `clientAuth`, or OIDs. undefined: for every purpose. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  /** Lower-case hex. */
  readonly subjectKeyIdentifier: string | undefined;
  /** Lower-case hex. */
  readonly authorityKeyIdentifier: string | undefined;
  readonly publicKey: PublicKeyDescription;
  /** OIDs of the extensions above that are there and could not be read. */
  readonly unreadableExtensions: readonly string[];
}

/**
 * The alternative names of a certificate by kind.
 *
 * @public
 */
export interface AlternativeNamesByKind {
  /** Microsoft's user principal names. */
  readonly otherUpn: readonly string[];
  /** Kerberos principals, separators in their parts escaped. */
  readonly otherKpn: readonly string[];
  /** Every otherName, the two kinds above included: `OID:base64`. */
  readonly other: readonly string[];
  readonly rfc822Name: readonly string[];
  readonly dnsName: readonly string[];
  readonly uri: readonly string[];
  readonly ipAddress: readonly string[];
  /** As RFC 4514 writes them. */
  readonly directoryName: readonly string[];
  /** Registered identifiers, dotted decimal. */
  readonly oid: readonly string[];
}

/**
 * The public key of a certificate.
 *
 * @public
 */
export interface PublicKeyDescription {
  /** `rsa`, `ec`, `ed25519`, or the OID of another algorithm. */
  readonly algorithm: string;
  /** Of RSA: bits of the modulus. */
  readonly bits: number | undefined;
  /** Of EC: `P-256`, `P-384`, `P-521`, or the OID of another curve. */
  readonly curve: string | undefined;
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly sha256: string;
}
