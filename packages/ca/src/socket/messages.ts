import {
  REVOCATION_REASONS,
  type RevocationReason,
} from '@directory-gateway/x509';
import { z } from 'zod';

/**
 * Maximum length of a line in bytes, enough for a CRL request with 60,000 revoked
 * certificates.
 */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** The peer did not send a valid message. */
export class MessageError extends Error {
  name = 'MessageError' as const;
}

/** Text that UTF-8 can represent: JSON can contain unpaired surrogates. */
const text = z
  .string()
  .max(1024)
  .refine(value => !/\p{Surrogate}/u.test(value));

const names = z.array(text).max(1000).readonly();

/** SHA-256, lowercase hex. */
const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** A number of at most 20 octets in hex, such as a serial number (RFC 5280 §4.1.2.2). */
const number = z.codec(
  z.string().regex(/^(?:0|[1-9a-f][0-9a-f]{0,39})$/),
  z.bigint(),
  {
    decode: hex => BigInt(`0x${hex}`),
    encode: value => value.toString(16),
  },
);

/** Milliseconds since 1970, up to the year 9999. */
const time = z.codec(z.int().min(0).max(253_402_300_799_999), z.date(), {
  decode: milliseconds => new Date(milliseconds),
  encode: date => date.getTime(),
});

/** Base64 in its canonical form. */
const bytes = z.codec(z.string(), z.instanceof(Buffer), {
  decode: (base64, context) => {
    const decoded = Buffer.from(base64, 'base64');
    if (decoded.toString('base64') !== base64) {
      context.issues.push({ code: 'custom', input: base64 });
    }
    return decoded;
  },
  encode: decoded => decoded.toString('base64'),
});

const none = z.object({});

const revocation = z.object({
  revokedAt: time,
  reason: z
    .enum(Object.keys(REVOCATION_REASONS) as RevocationReason[])
    .optional(),
});

/**
 * Parameters and results of the requests, which are the methods of
 * `CertificateSigner`. `loggedCertificates` sends items before its result.
 */
export const METHODS = {
  describe: {
    params: none,
    result: z.object({
      issuers: z
        .array(
          z.object({
            id: digest,
            chain: z.array(bytes).readonly(),
            crlNumber: number,
          }),
        )
        .readonly(),
    }),
  },
  signCertificate: {
    params: z.object({
      issuerId: digest,
      serialNumber: number,
      profile: text,
      username: text,
      csr: bytes,
      alternativeNames: z.object({
        emails: names,
        userPrincipalNames: names,
        kerberosPrincipalNames: names,
      }),
      notBefore: time,
      notAfter: time,
      requestedBy: text,
    }),
    result: bytes,
  },
  signRevocationList: {
    params: z.object({
      issuerId: digest,
      number,
      thisUpdate: time,
      nextUpdate: time,
      revoked: z.array(revocation.extend({ serialNumber: number })).readonly(),
    }),
    result: bytes,
  },
  blockKey: {
    params: z.object({ publicKeySha256: digest }),
    result: none,
  },
  loggedCertificates: { params: none, result: none },
} as const;

/** An item of `loggedCertificates`. */
export const loggedCertificate = z.object({
  issuerId: digest,
  serialNumber: number,
  username: text,
  profile: text,
  requestedBy: text,
  signedAt: time,
  certificate: bytes,
  revocation: revocation.optional(),
});

/** Identifies a request and its response within a connection. */
const id = z.int().positive();

export const requestMessage = z.strictObject({
  id,
  method: z.string(),
  params: z.unknown(),
});

/** A request from a client. */
export type RequestMessage = z.output<typeof requestMessage>;

/** The log of the signing process contains the reason for `unavailable`. */
const errorMessage = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('refused'), message: z.string() }),
  z.strictObject({ kind: z.literal('unavailable') }),
  z.strictObject({ kind: z.literal('limited'), message: z.string() }),
]);

export const responseMessage = z.union([
  z.strictObject({ id, error: errorMessage }),
  z.strictObject({ id, item: z.unknown() }),
  z.strictObject({ id, result: z.unknown() }),
]);

/** Why a request failed. */
export type ErrorMessage = z.output<typeof errorMessage>;

/** A message to a client. */
export type ResponseMessage = z.output<typeof responseMessage>;

/** Returns a message as a line. */
export function writeLine(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Reads a line as a message.
 *
 * @throws MessageError
 */
export function readLine<T extends z.ZodType>(
  line: Buffer,
  schema: T,
): z.output<T> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    throw new MessageError('a line is not JSON');
  }
  const result = schema.safeDecode(json as z.input<T>);
  if (!result.success) {
    throw new MessageError('a line is not a message of the protocol');
  }
  return result.data;
}

const NEWLINE = 0x0a;

/** Size of the buffer, except while a longer line is read. */
const KEPT_BYTES = 4096;

/**
 * Splits a stream into lines. Chunks are copied into one buffer, because a chunk
 * of one byte takes hundreds of bytes of memory.
 */
export class LineReader {
  #buffer = Buffer.allocUnsafe(KEPT_BYTES);
  #length = 0;

  /**
   * Adds a chunk and returns the lines that it completes, without their newline.
   * A line is valid until the next one is read.
   *
   * @throws MessageError when a line is longer than {@link MAX_LINE_BYTES}.
   */
  *read(chunk: Buffer): Generator<Buffer, void> {
    let start = 0;
    for (
      let end = chunk.indexOf(NEWLINE);
      end >= 0;
      end = chunk.indexOf(NEWLINE, start)
    ) {
      this.#append(chunk.subarray(start, end));
      start = end + 1;
      yield this.#buffer.subarray(0, this.#length);
      this.#length = 0;
      if (this.#buffer.length > KEPT_BYTES) {
        this.#buffer = Buffer.allocUnsafe(KEPT_BYTES);
      }
    }
    this.#append(chunk.subarray(start));
  }

  #append(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > MAX_LINE_BYTES) {
      throw new MessageError(`a line is longer than ${MAX_LINE_BYTES} bytes`);
    }
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    part.copy(this.#buffer, this.#length);
    this.#length = length;
  }
}
