import { sign, SignKeyObjectInput } from 'node:crypto';
import { bits, int, NULL, octets, oid, seq, set, text, tlv, TRUE } from './tlv';
import { TestKey, testKey } from './testKeys';

/** Parts of a request that differ from those of an ordinary request. */
export interface RequestParts {
  key?: TestKey;
  version?: Buffer;
  subject?: Buffer;
  spki?: Buffer;
  /** The values inside [0], or the whole field. */
  attributes?: readonly Buffer[] | Buffer;
  /** AlgorithmIdentifier. */
  algorithm?: Buffer;
  hash?: string | null;
  signing?: Omit<SignKeyObjectInput, 'key'>;
  /** Default: a valid signature. */
  signature?: Buffer;
}

/** Writes a request for CN=alice with a P-256 key, with the given parts replaced. */
export function buildRequest(parts: RequestParts = {}): Buffer {
  const key = parts.key ?? testKey('P-256');
  const { attributes = [] } = parts;
  const info = seq(
    parts.version ?? int(0n),
    parts.subject ?? subject(['commonName', 'alice']),
    parts.spki ?? key.spki,
    Buffer.isBuffer(attributes) ? attributes : tlv(0xa0, ...attributes),
  );
  const { hash = defaultHash(key) } = parts;
  return seq(
    info,
    parts.algorithm ?? defaultAlgorithm(key),
    bits(
      parts.signature ??
        sign(hash, info, { key: key.privateKey, ...parts.signing }),
    ),
  );
}

/**
 * Writes a name with one attribute per relative name; default tag: UTF8String.
 */
export function subject(
  ...attributes: readonly [type: string, value: string, tag?: number][]
): Buffer {
  return seq(...attributes.map(attribute => set(nameAttribute(...attribute))));
}

export function nameAttribute(type: string, value: string, tag = 0x0c): Buffer {
  return seq(oid(type), text(tag, value));
}

/** Writes the attribute that requests extensions. */
export function extensionRequest(...extensions: readonly Buffer[]): Buffer {
  return seq(oid('extensionRequest'), set(seq(...extensions)));
}

export function extension(
  type: string,
  value: Buffer,
  options = { critical: false },
): Buffer {
  return seq(oid(type), ...(options.critical ? [TRUE] : []), octets(value));
}

/** Writes the attribute that requests alternative names. */
export function requestNames(...names: readonly Buffer[]): Buffer {
  return extensionRequest(extension('subjectAltName', seq(...names)));
}

function defaultHash({ privateKey }: TestKey): string | null {
  return privateKey.asymmetricKeyType?.startsWith('ed') ? null : 'sha256';
}

function defaultAlgorithm({ privateKey }: TestKey): Buffer {
  switch (privateKey.asymmetricKeyType) {
    case 'rsa':
      return seq(oid('sha256WithRsaEncryption'), NULL);
    case 'ec':
      return seq(oid('ecdsaWithSha256'));
    default:
      return seq(oid('ed25519'));
  }
}
