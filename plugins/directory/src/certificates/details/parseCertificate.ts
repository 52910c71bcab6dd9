import {
  Certificate,
  type PublicKeyInfo,
  type RelativeDistinguishedNames,
} from 'pkijs';
import { fromPem } from '../pem';

/** Certificate fields that the API does not return. */
export interface ParsedCertificate {
  subject: string;
  issuer: string;
  serial: bigint;
  isSelfIssued: boolean;
  notAfter: Date;

  /** For example `EC P-256` or `RSA 3072`. */
  key: string;

  /** Names as in RFC 5280; empty when the usage is not restricted. */
  keyUsage: readonly KeyUsage[];
}

/** Name of a key usage. */
export type KeyUsage = (typeof KEY_USAGES)[number];

/** Key usage bits in order (RFC 5280 §4.2.1.3). */
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

/**
 * Parses a certificate: PEM, or the base64 of its DER.
 *
 * @throws Error when the text is not a certificate
 */
export function parseCertificate(text: string): ParsedCertificate {
  const certificate = Certificate.fromBER(fromPem(text));
  const subject = formatName(certificate.subject);
  const issuer = formatName(certificate.issuer);
  const keyUsage = certificate.extensions?.find(
    ({ extnID }) => extnID === KEY_USAGE,
  );
  return {
    subject,
    issuer,
    serial: certificate.serialNumber.toBigInt(),
    isSelfIssued: subject === issuer,
    notAfter: certificate.notAfter.value,
    key: describeKey(certificate.subjectPublicKeyInfo),
    keyUsage: readBits(keyUsage?.parsedValue),
  };
}

function readBits(
  usage: { valueBlock: { valueHexView: Uint8Array } } | undefined,
): KeyUsage[] {
  const bytes = usage?.valueBlock.valueHexView ?? new Uint8Array();
  return KEY_USAGES.filter((_, bit) => {
    const byte = bytes[Math.floor(bit / 8)] ?? 0;
    return Math.floor(byte / 2 ** (7 - (bit % 8))) % 2 === 1;
  });
}

const EC = '1.2.840.10045.2.1';
const RSA = '1.2.840.113549.1.1.1';

const curves: Readonly<Record<string, string>> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

const keyAlgorithms: Readonly<Record<string, string>> = {
  '1.3.101.112': 'Ed25519',
  '1.3.101.113': 'Ed448',
  '1.2.840.113549.1.1.10': 'RSA-PSS',
};

/**
 * Returns, for example, `EC P-256` or `RSA 3072`; the OID for other algorithms.
 */
export function describeKey(info: PublicKeyInfo): string {
  const { algorithmId, algorithmParams } = info.algorithm;
  const key = info.parsedKey;
  if (algorithmId === RSA && key && 'modulus' in key) {
    // DER adds a zero byte when the leading bit is 1.
    const bytes = key.modulus.valueBlock.valueHexView;
    const hex = Array.from(bytes, byte => byte.toString(2).padStart(8, '0'));
    return `RSA ${hex.join('').replace(/^0+/, '').length}`;
  }
  if (algorithmId === EC) {
    const curve = String(algorithmParams?.valueBlock?.toString() ?? '');
    return `EC ${curves[curve] ?? curve}`;
  }
  return keyAlgorithms[algorithmId] ?? algorithmId;
}

/**
 * Short names from RFC 4514 §3, and of other attributes in user certificates.
 */
const attributeTypes: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
};

/** Formats a distinguished name, most specific part first (RFC 4514). */
export function formatName(name: RelativeDistinguishedNames): string {
  return name.typesAndValues
    .map(({ type, value }) => {
      const text = String(value.valueBlock.value);
      return `${attributeTypes[type] ?? type}=${text.replace(
        /[",+;<>\\]/g,
        '\\$&',
      )}`;
    })
    .reverse()
    .join(',');
}
