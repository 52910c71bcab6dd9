import {
  generateKeyPairSync,
  randomBytes,
  sign as signBytes,
  type KeyObject,
} from 'node:crypto';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Key types that {@link createSigningRequest} generates.
 *
 * @public
 */
export type SigningKeyType = 'p256' | 'rsa2048' | 'ed25519';

/**
 * A key pair of the caller.
 *
 * @public
 */
export interface KeyPair {
  /** Public key in the CSR. */
  readonly publicKey: KeyObject;
  /** Private key that signs the CSR. */
  readonly privateKey: KeyObject;
}

/**
 * Options of {@link createSigningRequest}.
 *
 * @public
 */
export interface CreateSigningRequestOptions {
  /** User name; the CN of the CSR. */
  readonly username: string;
  /** Kerberos principal of the user, with its realm. */
  readonly principal: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /** A key, or the type of a new key. Default: `p256`. */
  readonly key?: SigningKeyType | KeyPair;
  /** Organization in the CSR's subject. Default: none. */
  readonly organization?: string;
}

/**
 * Creates a request as received by a certificate authority, with a self-signed
 * PKCS#10 CSR (RFC 2986) and a random serial number.
 *
 * @public
 */
export function createSigningRequest(
  options: CreateSigningRequestOptions,
): SigningRequest {
  const { key = 'p256' } = options;
  const { publicKey, privateKey } =
    typeof key === 'string' ? newKeyPair(key) : key;
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    serialNumber: BigInt(`0x${randomBytes(16).toString('hex')}`) >> 1n,
    username: options.username,
    principal: options.principal,
    profile: options.profile,
    csr: certificationRequest({ ...options, spki, privateKey }),
    publicKey: spki,
    alternativeNames: {
      emails: [],
      userPrincipalNames: [],
      kerberosPrincipalNames: [],
    },
    requestedBy: options.username,
  };
}

function newKeyPair(type: SigningKeyType): KeyPair {
  switch (type) {
    case 'p256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'rsa2048':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    default:
      return generateKeyPairSync('ed25519');
  }
}

/** RFC 2986 §4. */
function certificationRequest(options: {
  readonly username: string;
  readonly organization?: string;
  readonly spki: Buffer;
  readonly privateKey: KeyObject;
}): Buffer {
  const { username, organization, spki, privateKey } = options;
  const info = sequence(
    der(0x02, Buffer.from([0])),
    sequence(
      ...(organization ? [attribute('55040a', organization)] : []),
      attribute('550403', username),
    ),
    spki,
    der(0xa0),
  );
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = signBytes(hash, info, privateKey);
  return sequence(
    info,
    signatureAlgorithm(privateKey),
    der(0x03, Buffer.from([0]), signature),
  );
}

/** RFC 5758 §3.2, RFC 4055 §5, RFC 8410 §3. */
function signatureAlgorithm(key: KeyObject): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return sequence(oid('2a8648ce3d040302'));
    case 'rsa':
      return sequence(oid('2a864886f70d01010b'), der(0x05));
    default:
      return sequence(oid('2b6570'));
  }
}

function attribute(type: string, value: string): Buffer {
  return der(0x31, sequence(oid(type), der(0x0c, Buffer.from(value))));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...content: readonly Buffer[]): Buffer {
  return der(0x30, ...content);
}

/**
 * Encodes a DER value (X.690 §8.1.3, §10.1): tag, shortest form of the length,
 * content.
 */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const value = Buffer.concat(content);
  if (value.length < 128) {
    return Buffer.concat([Buffer.from([tag, value.length]), value]);
  }
  const hex = value.length.toString(16);
  const length = Buffer.from(
    hex.padStart(hex.length + (hex.length % 2), '0'),
    'hex',
  );
  return Buffer.concat([
    Buffer.from([tag, 0x80 + length.length]),
    length,
    value,
  ]);
}
