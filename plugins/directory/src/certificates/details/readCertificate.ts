import { Certificate, type ExtKeyUsage } from 'pkijs';
import { fromPem } from '../download/fromPem';
import { describeKey } from './describeKey';
import { formatName } from './formatName';
import { nameUsage } from './nameUsage';

/** What a certificate says that the API does not repeat. */
export interface ReadCertificate {
  subject: string;
  issuer: string;
  isSelfIssued: boolean;
  notAfter: Date;

  /** For example `EC P-256` or `RSA 3072`. */
  key: string;

  /** Names as RFC 5280 has them; empty when it is not restricted. */
  keyUsage: readonly string[];

  /** Names, or OIDs of usages that have no common name. */
  extendedKeyUsage: readonly string[];
}

/** RFC 5280 §4.2.1.3: the bits of key usage, from the first. */
const KEY_USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';

/**
 * Reads a certificate: PEM, or the base64 of its DER.
 *
 * @throws Error when it is none
 */
export function readCertificate(text: string): ReadCertificate {
  const certificate = Certificate.fromBER(fromPem(text));
  const subject = formatName(certificate.subject);
  const issuer = formatName(certificate.issuer);
  const extension = (oid: string) =>
    certificate.extensions?.find(({ extnID }) => extnID === oid)?.parsedValue;
  const extended: ExtKeyUsage | undefined = extension(EXTENDED_KEY_USAGE);
  return {
    subject,
    issuer,
    isSelfIssued: subject === issuer,
    notAfter: certificate.notAfter.value,
    key: describeKey(certificate.subjectPublicKeyInfo),
    keyUsage: readBits(extension(KEY_USAGE)),
    extendedKeyUsage: extended?.keyPurposes.map(nameUsage) ?? [],
  };
}

function readBits(
  usage: { valueBlock: { valueHexView: Uint8Array } } | undefined,
): string[] {
  const bytes = usage?.valueBlock.valueHexView ?? new Uint8Array();
  return KEY_USAGES.filter((_, bit) => {
    const byte = bytes[Math.floor(bit / 8)] ?? 0;
    return Math.floor(byte / 2 ** (7 - (bit % 8))) % 2 === 1;
  });
}
