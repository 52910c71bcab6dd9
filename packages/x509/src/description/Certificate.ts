import { createHash } from 'node:crypto';
import { writePem } from '../der/pem';
import { catchDerError } from '../der/DerNode';
import { Extension } from '../extensions/extensions';
import { DistinguishedName, readName } from '../names/readName';
import { OID } from '../der/oids';
import {
  AlternativeNamesByKind,
  CertificateDescription,
  readAlternativeNames,
  readBasicConstraints,
  readCertificate,
  readExtendedKeyUsage,
  readKeyUsage,
  readSubjectKeyIdentifier,
} from './readCertificate';
import { GeneralName } from '../names/readGeneralName';

/** Maximum size in bytes. Certificates in use are smaller than 8 KiB. */
const MAX_BYTES = 65_536;

/**
 * The description of a certificate, or the reason why it cannot be read. The message is a sentence and
 * contains no part of the input.
 *
 * @public
 */
export type CertificateDescriptionResult =
  | { readonly ok: true; readonly certificate: CertificateDescription }
  | {
      readonly ok: false;
      readonly code: 'too_large' | 'malformed';
      readonly message: string;
    };

/** Descriptions by DER, so that a certificate that its CA has parsed is not parsed again. */
const descriptions = new WeakMap<Buffer, CertificateDescriptionResult>();

/**
 * A certificate in DER. Its description is read on first use and then cached,
 * so that certificates of which only the bytes are used are not parsed.
 *
 * @public
 */
export class Certificate {
  /** The certificate in DER. */
  readonly der: Buffer;

  constructor(der: Buffer) {
    this.der = der;
  }

  /**
   * Describes the certificate (RFC 5280); always returns the same object for the
   * same buffer. Does not verify the signature, validity or revocation. Accepts
   * irregular certificates, which directories contain: values of any string
   * type, serial numbers of any sign, and extensions that cannot be read, which
   * count as absent. A certificate of more than 64 KiB is `too_large`.
   */
  get description(): CertificateDescriptionResult {
    let description = descriptions.get(this.der);
    if (!description) {
      description = describeCertificate(this.der);
      descriptions.set(this.der, description);
    }
    return description;
  }
}

/** As {@link Certificate.description}. */
export function describeCertificate(
  der: Uint8Array,
): CertificateDescriptionResult {
  if (der.length > MAX_BYTES) {
    return {
      ok: false,
      code: 'too_large',
      message: 'The certificate is larger than 64 KiB.',
    };
  }
  return catchDerError<CertificateDescriptionResult>(
    () => ({ ok: true, certificate: describe(Buffer.from(der)) }),
    () => ({
      ok: false,
      code: 'malformed',
      message: 'The certificate cannot be read.',
    }),
  );
}

function describe(der: Buffer): CertificateDescription {
  const parts = readCertificate(der);
  const subject = readName(parts.subject);
  return Object.freeze({
    pem: writePem('CERTIFICATE', der),
    base64: der.toString('base64'),
    serialNumber: parts.serialNumber,
    serialNumberHex: formatHex(parts.serialNumber),
    issuer: readName(parts.issuer).text,
    subject: subject.text,
    subjectName: subject,
    validNotBefore: formatTime(parts.notBefore),
    validNotAfter: formatTime(parts.notAfter),
    notBefore: parts.notBefore.getTime(),
    notAfter: parts.notAfter.getTime(),
    sha1Fingerprint: fingerprint('sha1', der),
    sha256Fingerprint: fingerprint('sha256', der),
    ...describeExtensions(parts.extensions),
    publicKey: Object.freeze({
      sha256: createHash('sha256').update(parts.publicKey.der).digest('hex'),
    }),
  });
}

function describeExtensions(extensions: ReadonlyMap<string, Extension>) {
  const read = <T>(
    oid: string,
    reader: (value: Buffer) => T,
  ): T | undefined => {
    const extension = extensions.get(oid);
    return (
      extension &&
      catchDerError(
        () => reader(extension.value),
        () => undefined,
      )
    );
  };
  const alternativeNames =
    read(OID.subjectAltName, readAlternativeNames) ?? Object.freeze([]);
  return {
    alternativeNames,
    san: groupAlternativeNames(alternativeNames),
    ca: read(OID.basicConstraints, readBasicConstraints) ?? false,
    keyUsage: read(OID.keyUsage, readKeyUsage),
    extendedKeyUsage: read(OID.extendedKeyUsage, readExtendedKeyUsage),
    subjectKeyIdentifier: read(
      OID.subjectKeyIdentifier,
      readSubjectKeyIdentifier,
    ),
  };
}

/** RFC 5280 §4.1.2.2 forbids negative numbers, but such certificates exist. */
function formatHex(serialNumber: bigint): string {
  const digits = serialNumber.toString(16).toUpperCase();
  return digits.startsWith('-') ? `-0x${digits.slice(1)}` : `0x${digits}`;
}

function formatTime(date: Date): string {
  return date.toUTCString().replace('GMT', '-0000');
}

function fingerprint(hash: 'sha1' | 'sha256', der: Buffer): string {
  const digest = createHash(hash).update(der).digest('hex');
  return digest.match(/../g)?.join(':') ?? '';
}

/** Groups alternative names by kind; each group keeps their order. */
function groupAlternativeNames(
  names: readonly GeneralName[],
): AlternativeNamesByKind {
  const textsOf = (kind: GeneralName['kind']) =>
    Object.freeze(
      names.flatMap(name =>
        name.kind === kind && 'value' in name ? textOf(name.value) : [],
      ),
    );
  return Object.freeze({
    otherUpn: textsOf('userPrincipalName'),
    otherKpn: textsOf('krb5PrincipalName'),
    other: Object.freeze(names.flatMap(formatOtherName)),
    rfc822Name: textsOf('rfc822Name'),
    dnsName: textsOf('dnsName'),
    uri: textsOf('uri'),
    ipAddress: textsOf('ipAddress'),
    directoryName: textsOf('directoryName'),
    oid: textsOf('registeredId'),
  });
}

function textOf(value: string | DistinguishedName): string {
  return typeof value === 'string' ? value : value.text;
}

function formatOtherName(name: GeneralName): string | [] {
  if (!('base64' in name)) {
    return [];
  }
  const oid = name.kind === 'otherName' ? name.oid : OID[name.kind];
  return `${oid}:${name.base64}`;
}
