import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  REVOCATION_REASONS,
  type RevocationReason,
} from '@directory-gateway/x509';
import type { SignCertificateRequest, IssuerId } from '../CertificateSigner';

/** The first line of a file. */
export interface StartEntry {
  readonly kind: 'start';
  readonly time: Date;
  /** The last lines of existing files, except those in the first line of another file. */
  readonly heads: readonly Head[];
  readonly issuers: readonly {
    readonly id: IssuerId;
    /** DER. */
    readonly chain: readonly Buffer[];
  }[];
}

/** The last line of a file. */
export interface Head {
  readonly file: string;
  /** 1-based line number. */
  readonly lines: number;
  /** SHA-256 of the line, lowercase hex. */
  readonly sha256: string;
}

/** A certificate with its request. */
export interface CertificateEntry {
  readonly kind: 'certificate';
  readonly time: Date;
  readonly request: SignCertificateRequest;
  /** DER. */
  readonly certificate: Buffer;
}

/** An entry that a CRL adds to the previous one, or changes. */
export interface ListedRevocation {
  readonly serialNumber: bigint;
  readonly reason: RevocationReason;
  readonly revokedAt: Date;
}

/** A CRL. */
export interface RevocationListEntry {
  readonly kind: 'crl';
  readonly time: Date;
  readonly issuerId: IssuerId;
  readonly number: bigint;
  /** SHA-256 of the CRL, lowercase hex. */
  readonly sha256: string;
  readonly added: readonly ListedRevocation[];
  readonly removed: readonly bigint[];
}

/** A blocked key. */
export interface BlockEntry {
  readonly kind: 'block';
  readonly time: Date;
  readonly publicKeySha256: string;
}

/** Content of a line of the issuance log. */
export type LogEntry =
  StartEntry | CertificateEntry | RevocationListEntry | BlockEntry;

/** A line or a file differs from what the signer wrote. */
export class LogFault extends Error {
  name = 'LogFault' as const;
}

/** A line of JSON without the newline, and its hash, which the next line contains. */
export interface WrittenLine {
  readonly bytes: Buffer;
  readonly sha256: string;
}

/**
 * Encodes a line. Its last member, `digest`, is the SHA-256 of the text before
 * it. The hash in the next line reveals changes to a line; `digest` reveals
 * disk errors, including those in the last line.
 *
 * @param previous - `sha256` of the previous line; `undefined` for the first one
 */
export function writeLine(
  entry: LogEntry,
  previous: string | undefined,
): WrittenLine {
  const members = JSON.stringify({ previous, ...encode(entry) }).slice(0, -1);
  const bytes = Buffer.from(`${members},"digest":"${sha256(members)}"}`);
  return { bytes, sha256: sha256(bytes) };
}

const DIGEST = /,"digest":"([0-9a-f]{64})"\}$/;

/**
 * Reads a line.
 *
 * @param previous - `sha256` of the previous line; `undefined` for the first one
 * @throws LogFault when the line was changed, or does not follow the previous one.
 */
export function readLine(
  bytes: Buffer,
  previous: string | undefined,
): LogEntry & { readonly sha256: string } {
  const text = bytes.toString('utf8');
  const match = DIGEST.exec(text);
  if (
    !match ||
    !Buffer.from(text).equals(bytes) ||
    sha256(text.slice(0, match.index)) !== match[1]
  ) {
    throw new LogFault('the line was changed');
  }
  let entry: LogEntry;
  let named: unknown;
  try {
    const json = JSON.parse(text) as Encoded & { previous?: string };
    named = json.previous;
    entry = decode(json);
  } catch {
    throw new LogFault('the line cannot be read');
  }
  if (
    named !== previous ||
    (entry.kind === 'start') !== (previous === undefined)
  ) {
    throw new LogFault('the line does not follow the previous one');
  }
  return { ...entry, sha256: sha256(bytes) };
}

/** A line with its location in a file. */
export interface PlacedLine {
  readonly bytes: Buffer;
  /** Offset of its first byte in the file. */
  readonly offset: number;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the complete lines of a file from an offset. A line without a newline is
 * incomplete: its process was killed, or is still writing it.
 */
export async function* readLines(
  path: string,
  options: { readonly from?: number } = {},
): AsyncGenerator<PlacedLine, void> {
  const file = await open(path, 'r');
  try {
    yield* linesOf(file, options.from ?? 0);
  } finally {
    await file.close();
  }
}

async function* linesOf(
  file: FileHandle,
  from: number,
): AsyncGenerator<PlacedLine, void> {
  let offset = from;
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.read(
      chunk,
      0,
      CHUNK_BYTES,
      offset + rest.length,
    );
    if (bytesRead === 0) {
      return;
    }
    const read = chunk.subarray(0, bytesRead);
    rest = rest.length === 0 ? read : Buffer.concat([rest, read]);
    let start = 0;
    for (
      let end = rest.indexOf(NEWLINE);
      end >= 0;
      end = rest.indexOf(NEWLINE, start)
    ) {
      yield { bytes: rest.subarray(start, end), offset: offset + start };
      start = end + 1;
    }
    rest = rest.subarray(start);
    offset += start;
  }
}

/** Reads one line again. */
export async function readLineAt(
  path: string,
  place: { readonly offset: number; readonly length: number },
): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(place.length);
    await file.read(bytes, 0, place.length, place.offset);
    return bytes;
  } finally {
    await file.close();
  }
}

/**
 * Reads the entry of a line that was read before.
 *
 * @param digest - `sha256` of the line
 * @throws LogFault when the line has changed since.
 */
export function readEntryAgain(bytes: Buffer, digest: string): LogEntry {
  if (sha256(bytes) !== digest) {
    throw new LogFault('a line was changed since it was read');
  }
  return decode(JSON.parse(bytes.toString('utf8')) as Encoded);
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The members of a line. Times are ISO 8601, bytes Base64, numbers decimal. */
type Encoded = ReturnType<typeof encode>;

function encode(entry: LogEntry) {
  const time = entry.time.toISOString();
  switch (entry.kind) {
    case 'start':
      return {
        kind: entry.kind,
        time,
        heads: entry.heads,
        issuers: entry.issuers.map(({ id, chain }) => ({
          id,
          chain: chain.map(toBase64),
        })),
      };
    case 'certificate':
      return {
        kind: entry.kind,
        time,
        order: encodeRequest(entry.request),
        certificate: toBase64(entry.certificate),
      };
    case 'crl':
      return {
        kind: entry.kind,
        time,
        issuerId: entry.issuerId,
        number: String(entry.number),
        sha256: entry.sha256,
        added: entry.added.map(({ serialNumber, reason, revokedAt }) => [
          String(serialNumber),
          reason,
          revokedAt.toISOString(),
        ]),
        removed: entry.removed.map(String),
      };
    default:
      return {
        kind: entry.kind,
        time,
        publicKeySha256: entry.publicKeySha256,
      };
  }
}

function decode(json: Encoded): LogEntry {
  const time = toDate(json.time);
  switch (json.kind) {
    case 'start':
      return {
        kind: json.kind,
        time,
        heads: json.heads,
        issuers: json.issuers.map(({ id, chain }) => ({
          id,
          chain: chain.map(fromBase64),
        })),
      };
    case 'certificate':
      return {
        kind: json.kind,
        time,
        request: decodeRequest(json.order),
        certificate: fromBase64(json.certificate),
      };
    case 'crl':
      return {
        kind: json.kind,
        time,
        issuerId: json.issuerId,
        number: BigInt(json.number),
        sha256: json.sha256,
        added: json.added.map(([serialNumber, reason, revokedAt]) => ({
          serialNumber: BigInt(serialNumber),
          reason: toReason(reason),
          revokedAt: toDate(revokedAt),
        })),
        removed: json.removed.map(BigInt),
      };
    case 'block':
      return {
        kind: json.kind,
        time,
        publicKeySha256: json.publicKeySha256,
      };
    default:
      throw new TypeError('Unknown kind of line');
  }
}

function encodeRequest(request: SignCertificateRequest) {
  const { serialNumber, csr, notBefore, notAfter, alternativeNames } = request;
  return {
    issuerId: request.issuerId,
    serialNumber: String(serialNumber),
    profile: request.profile,
    username: request.username,
    csr: toBase64(csr),
    alternativeNames: {
      emails: alternativeNames.emails,
      userPrincipalNames: alternativeNames.userPrincipalNames,
      kerberosPrincipalNames: alternativeNames.kerberosPrincipalNames,
    },
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
    requestedBy: request.requestedBy,
  };
}

function decodeRequest(
  json: ReturnType<typeof encodeRequest>,
): SignCertificateRequest {
  return {
    issuerId: json.issuerId,
    serialNumber: BigInt(json.serialNumber),
    profile: json.profile,
    username: json.username,
    csr: fromBase64(json.csr),
    alternativeNames: json.alternativeNames,
    notBefore: toDate(json.notBefore),
    notAfter: toDate(json.notAfter),
    requestedBy: json.requestedBy,
  };
}

function toReason(text: string): RevocationReason {
  if (!Object.hasOwn(REVOCATION_REASONS, text)) {
    throw new TypeError('Unknown reason for a revocation');
  }
  return text as RevocationReason;
}

function toDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) {
    throw new TypeError('Invalid time');
  }
  return date;
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64');
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
