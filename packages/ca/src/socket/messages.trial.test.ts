import fc from 'fast-check';
import type { SignCertificateRequest } from '../CertificateSigner';
import {
  LineReader,
  MAX_LINE_BYTES,
  METHODS,
  MessageError,
  readLine,
  requestMessage,
  responseMessage,
  writeLine,
} from './messages';

/** Any date that a certificate can contain. */
const date = fc.date({
  min: new Date(0),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const text = fc.string({ unit: 'grapheme', maxLength: 50 });
const bytes = fc.uint8Array({ maxLength: 200 }).map(Buffer.from);
const digest = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(octets => Buffer.from(octets).toString('hex'));
const number = fc.bigInt({ min: 0n, max: 2n ** 160n - 1n });

const request: fc.Arbitrary<SignCertificateRequest> = fc.record({
  issuerId: digest,
  serialNumber: number,
  profile: text,
  username: text,
  csr: bytes,
  alternativeNames: fc.record({
    emails: fc.array(text),
    userPrincipalNames: fc.array(text),
    kerberosPrincipalNames: fc.array(text),
  }),
  notBefore: date,
  notAfter: date,
  requestedBy: text,
});

const list = fc.record({
  issuerId: digest,
  number,
  thisUpdate: date,
  nextUpdate: date,
  revoked: fc.array(
    fc.record(
      {
        serialNumber: number,
        revokedAt: date,
        reason: fc.constantFrom(
          'keyCompromise' as const,
          'certificateHold' as const,
        ),
      },
      { requiredKeys: ['serialNumber', 'revokedAt'] },
    ),
  ),
});

/** Sends a message through the reader in chunks of any size. */
function* split(stream: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let start = 0;
  for (const size of sizes) {
    yield stream.subarray(start, start + size);
    start += size;
  }
  yield stream.subarray(start);
}

describe('LineReader', () => {
  it('returns the same lines for any chunks of the stream', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ maxLength: 5000 }).map(line => line.replace(/\n/g, '')),
        ),
        fc.array(fc.nat(3000)),
        (lines, sizes) => {
          const reader = new LineReader();
          const stream = Buffer.from(lines.map(line => `${line}\n`).join(''));
          const read: string[] = [];
          for (const chunk of split(stream, sizes)) {
            for (const line of reader.read(chunk)) {
              read.push(line.toString());
            }
          }
          expect(read).toEqual(lines);
        },
      ),
    );
  });

  it('rejects a line that is too long before it ends', () => {
    const reader = new LineReader();
    const chunk = Buffer.alloc(1024 * 1024, 'a');
    const readChunks = () => {
      for (let length = 0; length <= MAX_LINE_BYTES; length += chunk.length) {
        expect([...reader.read(chunk)]).toEqual([]);
      }
    };
    expect(readChunks).toThrow(MessageError);
  });
});

describe('requests', () => {
  it('are unchanged after encoding and decoding', () => {
    const { signCertificate, signRevocationList } = METHODS;
    fc.assert(
      fc.property(request, value => {
        const line = writeLine(signCertificate.params.encode(value));
        expect(signCertificate.params.parse(JSON.parse(line))).toEqual(value);
      }),
    );
    fc.assert(
      fc.property(list, value => {
        const line = writeLine(signRevocationList.params.encode(value));
        expect(signRevocationList.params.parse(JSON.parse(line))).toEqual(
          value,
        );
      }),
    );
  });

  const sent = METHODS.signCertificate.params.encode(fc.sample(request, 1)[0]);

  it.each<[string, object]>([
    ['another issuer id', { issuerId: 'A'.repeat(64) }],
    ['a serial number of 21 octets', { serialNumber: '1'.repeat(41) }],
    ['a serial number with leading zeros', { serialNumber: '01' }],
    ['a serial number that is not text', { serialNumber: 1 }],
    ['a time that is not a whole number', { notAfter: 1.5 }],
    ['a time before 1970', { notBefore: -1 }],
    ['a time after the year 9999', { notAfter: 253_402_300_800_000 }],
    ['bytes that are not base64', { csr: 'YQ=' }],
    ['bytes in non-canonical base64', { csr: 'YR==' }],
    ['half a surrogate pair', { username: '\ud800' }],
    ['a long name', { username: 'a'.repeat(1025) }],
    ['a list of other values', { alternativeNames: { emails: [1] } }],
    ['a missing value', { requestedBy: undefined }],
  ])('are not valid with %s', (_, change) => {
    const changed = { ...sent, ...change };
    const { params } = METHODS.signCertificate;
    expect(params.safeParse(sent).success).toBe(true);
    expect(params.safeParse(changed).success).toBe(false);
  });
});

/** A message or a MessageError is expected. */
function outcomeOf(read: () => { readonly id: number }): string {
  try {
    return Number.isSafeInteger(read().id) ? 'expected' : 'without an id';
  } catch (error) {
    return error instanceof MessageError ? 'expected' : String(error);
  }
}

describe('readLine', () => {
  it('returns a message or throws MessageError for any line', () => {
    const line = fc.oneof(
      fc.uint8Array().map(Buffer.from),
      fc.json().map(json => Buffer.from(json)),
      fc
        .record({
          id: fc.oneof(fc.integer(), fc.jsonValue()),
          method: fc.jsonValue(),
          params: fc.jsonValue(),
          __proto__: fc.jsonValue(),
        })
        .map(value => Buffer.from(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(line, value => {
        for (const schema of [requestMessage, responseMessage]) {
          expect(outcomeOf(() => readLine(value, schema))).toBe('expected');
        }
      }),
    );
  });

  it.each([
    '',
    'null',
    '[]',
    '{"id":0,"method":"describe","params":{}}',
    '{"id":1.5,"method":"describe","params":{}}',
    '{"id":1e300,"method":"describe","params":{}}',
    '{"id":1,"method":1,"params":{}}',
    '{"id":1,"method":"describe","params":{},"more":1}',
    '\xff',
  ])('rejects %j', line => {
    expect(() => readLine(Buffer.from(line, 'latin1'), requestMessage)).toThrow(
      MessageError,
    );
  });
});
