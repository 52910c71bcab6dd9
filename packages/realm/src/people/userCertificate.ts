import {
  type KeyObject,
  createECDH,
  createPrivateKey,
  createPublicKey,
  sign,
} from 'node:crypto';
import { REALM } from '../RealmLayout';

/** PKCS #8 of an Ed25519 key up to the key itself (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Key of the CA that signs all user certificates. */
const AUTHORITY = privateKeyOfSeed(Buffer.alloc(32, 'certificate authority'));

/** Public key of the CA. */
export const AUTHORITY_PUBLIC_KEY = createPublicKey(AUTHORITY);

const ED25519 = sequence(oid('2b6570'));

const EC_P256 = sequence(oid('2a8648ce3d0201'), oid('2a8648ce3d030107'));

const COMMON_NAME = oid('550403');

const ORGANIZATION = oid('55040a');

interface CertificateOptions {
  commonName: string;
  /** Positive, at most 20 octets. */
  serial: bigint;
  notBefore: Date;
  notAfter: Date;
  /** Private key of 32 octets. */
  seed: Buffer;
}

/**
 * Creates an X.509 certificate in DER: a P-256 key, signed with Ed25519 by
 * `CN=Certificate Authority,O=EXAMPLE.TEST`. The same options result in the
 * same certificate.
 */
export function userCertificate(options: CertificateOptions): Buffer {
  const key = createECDH('prime256v1');
  key.setPrivateKey(options.seed);
  const body = sequence(
    tag(0xa0, integer(2n)), // version 3
    integer(options.serial),
    ED25519,
    name('Certificate Authority'),
    sequence(time(options.notBefore), time(options.notAfter)),
    name(options.commonName),
    sequence(EC_P256, bitString(key.getPublicKey())),
  );
  return sequence(body, ED25519, bitString(sign(null, body, AUTHORITY)));
}

function name(commonName: string): Buffer {
  return sequence(
    tag(0x31, sequence(ORGANIZATION, utf8(REALM))),
    tag(0x31, sequence(COMMON_NAME, utf8(commonName))),
  );
}

function tag(type: number, ...content: Buffer[]): Buffer {
  const octets = Buffer.concat(content);
  const header = Buffer.from([type, ...lengthOctets(octets.length)]);
  return Buffer.concat([header, octets]);
}

/** Encodes a length in DER, up to 65535 (X.690 §8.1.3, §10.1). */
function lengthOctets(length: number): number[] {
  if (length < 0x80) {
    return [length];
  }
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...content: Buffer[]): Buffer {
  return tag(0x30, ...content);
}

function oid(hex: string): Buffer {
  return tag(0x06, Buffer.from(hex, 'hex'));
}

function utf8(text: string): Buffer {
  return tag(0x0c, Buffer.from(text, 'utf8'));
}

function bitString(octets: Buffer): Buffer {
  return tag(0x03, Buffer.from([0]), octets);
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return tag(
    0x02,
    octets[0] >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0),
    octets,
  );
}

/** UTCTime to 2049, GeneralizedTime from 2050 (RFC 5280 §4.1.2.5). */
function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? tag(0x17, Buffer.from(text.slice(2)))
    : tag(0x18, Buffer.from(text));
}

/** Returns the Ed25519 private key for a 32-octet seed. */
function privateKeyOfSeed(seed: Buffer): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** Returns the raw 32-octet Ed25519 public key for a seed. */
function publicKeyOfSeed(seed: Buffer): Buffer {
  const info = createPublicKey(privateKeyOfSeed(seed)).export({
    format: 'der',
    type: 'spki',
  });
  return info.subarray(-32);
}

/**
 * Formats an Ed25519 public key as in `authorized_keys` (RFC 8709 §4).
 *
 * @param seed - 32-octet private key
 */
export function sshKey(seed: Buffer, comment: string): string {
  const blob = Buffer.concat(
    [Buffer.from('ssh-ed25519'), publicKeyOfSeed(seed)].map(sshString),
  );
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`;
}

function sshString(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}
