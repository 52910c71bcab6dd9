import {
  catchDerError,
  DerError,
  DerNode,
  TAG,
  constructedContextTag,
} from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import {
  expectTag,
  readBoolean,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOctetString,
  readOnlyChild,
  readTime,
} from '../der/readDer';
import {
  Extension,
  KEY_PURPOSES,
  KEY_USAGES,
  KeyUsage,
  readExtensions,
} from '../extensions/extensions';
import { GeneralName, readGeneralName } from '../names/readGeneralName';
import { DistinguishedName } from '../names/readName';

/** The fields of a certificate; names and the key are not parsed. */
export interface CertificateParts {
  readonly serialNumber: bigint;
  readonly issuer: DerNode;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly subject: DerNode;
  readonly publicKey: DerNode;
  /** Extensions by OID; of equal ones, the first. */
  readonly extensions: ReadonlyMap<string, Extension>;
}

/**
 * Reads the fields of a certificate (RFC 5280 §4.1). Its signature is not verified.
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
    throw new DerError('A certificate must have three fields');
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

/** Unique identifiers, [1] and [2], may precede the extensions. */
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

/**
 * The content of a certificate in the formats of FreeIPA's API. Frozen.
 *
 * @public
 */
export interface CertificateDescription {
  /** PEM, each line with a `\n` at its end. */
  readonly pem: string;
  /** Base64 of the DER, on one line. */
  readonly base64: string;
  /** Serial number; of at most 20 octets if it conforms to RFC 5280. */
  readonly serialNumber: bigint;
  /** `0x` and uppercase digits: `0xC`. */
  readonly serialNumberHex: string;
  /** Text of RFC 4514, most specific part first: `CN=alice,O=EXAMPLE.TEST`. */
  readonly issuer: string;
  /** Subject in the format of `issuer`. */
  readonly subject: string;
  /** The attributes of the subject. */
  readonly subjectName: DistinguishedName;
  /** RFC 822 date in UTC: `Fri, 06 May 2022 06:22:53 -0000`. */
  readonly validNotBefore: string;
  /**
   * Date in the format of `validNotBefore`; the certificate is still valid at
   * this second.
   */
  readonly validNotAfter: string;
  /** `validNotBefore` in milliseconds since 1970. */
  readonly notBefore: number;
  /** `validNotAfter` in milliseconds since 1970. */
  readonly notAfter: number;
  /** Lowercase hex with colons. */
  readonly sha1Fingerprint: string;
  /** Lowercase hex with colons. */
  readonly sha256Fingerprint: string;
  /** Every alternative name in the order of the encoding. */
  readonly alternativeNames: readonly GeneralName[];
  /** `alternativeNames` by kind, as text. */
  readonly san: AlternativeNamesByKind;
  /** Whether it is the certificate of a CA. */
  readonly ca: boolean;
  /** undefined: not restricted. */
  readonly keyUsage: readonly KeyUsage[] | undefined;
  /** Names such as `clientAuth`, or OIDs. undefined: not restricted. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  /** Lowercase hex. */
  readonly subjectKeyIdentifier: string | undefined;
  /** Identifies the certified key. */
  readonly publicKey: {
    /** SHA-256 of the SubjectPublicKeyInfo, lowercase hex. */
    readonly sha256: string;
  };
}

/**
 * The alternative names of a certificate by kind.
 *
 * @public
 */
export interface AlternativeNamesByKind {
  /** Microsoft's user principal names. */
  readonly otherUpn: readonly string[];
  /** Kerberos principals, with separators inside their parts escaped. */
  readonly otherKpn: readonly string[];
  /** Every otherName, including the two kinds above: `OID:base64`. */
  readonly other: readonly string[];
  /** E-mail addresses. */
  readonly rfc822Name: readonly string[];
  /** Host names. */
  readonly dnsName: readonly string[];
  /** URIs. */
  readonly uri: readonly string[];
  /** Dotted decimal, or the text of RFC 5952. */
  readonly ipAddress: readonly string[];
  /** Text of RFC 4514. */
  readonly directoryName: readonly string[];
  /** Registered identifiers, dotted decimal. */
  readonly oid: readonly string[];
}

const PURPOSES_BY_OID = new Map<string, string>(
  Object.entries(KEY_PURPOSES).map(([name, oid]) => [oid, name]),
);

/** RFC 5280 §4.2.1.9: whether it is a CA's certificate. */
export function readBasicConstraints(value: Buffer): boolean {
  const [ca, pathLength] = readChildren(parseDer(value));
  if (ca?.tag !== TAG.boolean) {
    return false;
  }
  if (pathLength) {
    readInteger(pathLength);
  }
  return readBoolean(ca);
}

/** RFC 5280 §4.2.1.3. The first bit is the highest of the first octet. */
export function readKeyUsage(value: Buffer): readonly KeyUsage[] {
  const bits = expectTag(parseDer(value), TAG.bitString).content.subarray(1);
  return Object.freeze(
    KEY_USAGES.filter(
      (_, index) =>
        ((bits[Math.floor(index / 8)] ?? 0) & (0x80 >> (index % 8))) !== 0,
    ),
  );
}

/** RFC 5280 §4.2.1.12. */
export function readExtendedKeyUsage(value: Buffer): readonly string[] {
  const oids = readChildren(parseDer(value)).map(readObjectIdentifier);
  return Object.freeze(oids.map(oid => PURPOSES_BY_OID.get(oid) ?? oid));
}

/** RFC 5280 §4.2.1.2. */
export function readSubjectKeyIdentifier(value: Buffer): string {
  return readOctetString(parseDer(value)).toString('hex');
}

/** RFC 5280 §4.2.1.6. A name that cannot be read is `unsupported`. */
export function readAlternativeNames(value: Buffer): readonly GeneralName[] {
  const names = readChildren(parseDer(value)).map(node =>
    catchDerError<GeneralName>(
      () => readGeneralName(node),
      () => Object.freeze({ kind: 'unsupported' }),
    ),
  );
  return Object.freeze(names);
}
