import fc from 'fast-check';
import { parseKeytab, splitKeytab } from './keytab';

const uint16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const uint32 = (value: number) =>
  Buffer.concat([uint16(value >>> 16), uint16(value & 0xffff)]);
const counted = (bytes: Buffer) => Buffer.concat([uint16(bytes.length), bytes]);
const record = (bytes: Buffer) => Buffer.concat([uint32(bytes.length), bytes]);

/** Encryption types: `aes256-cts-hmac-sha1-96`, `arcfour-hmac`, unknown. */
const TYPES = [18, 23, 999];

interface Key {
  realm: string;
  components: string[];
  kvno: number;
  type: number;
  secret: Uint8Array;
}

const key = (): fc.Arbitrary<Key> =>
  fc.record({
    realm: fc.stringMatching(/^[A-Z.]{1,20}$/),
    components: fc.array(fc.stringMatching(/^[A-Za-z0-9.-]{1,30}$/), {
      minLength: 1,
      maxLength: 3,
    }),
    kvno: fc.integer({ min: 1, max: 100_000 }),
    type: fc.constantFrom(...TYPES),
    secret: fc.uint8Array({ minLength: 1, maxLength: 32 }),
  });

/** An entry in the format of `ktadd`. */
function entry({ realm, components, kvno, type, secret }: Key): Buffer {
  return record(
    Buffer.concat([
      uint16(components.length),
      counted(Buffer.from(realm)),
      ...components.map(component => counted(Buffer.from(component))),
      uint32(1),
      uint32(1_700_000_000),
      Buffer.from([kvno & 255]),
      uint16(type),
      counted(Buffer.from(secret)),
      uint32(kvno),
    ]),
  );
}

/** The gap of a removed entry. */
const gap = () =>
  fc
    .uint8Array({ minLength: 1, maxLength: 60 })
    .map(bytes => Buffer.concat([uint32(-bytes.length >>> 0), bytes]));

const MAGIC = Buffer.from([5, 2]);
const keytab = (...parts: Buffer[]) => Buffer.concat([MAGIC, ...parts]);

describe('splitKeytab', () => {
  it('returns the sets of keys of a principal, the last added first', () => {
    const [aes, rc4] = TYPES;
    const one = (kvno: number, type = aes, realm = 'A') =>
      entry({ realm, components: ['HTTP'], kvno, type, secret: MAGIC });
    const file = keytab(
      ...[one(1), one(1, rc4), one(9, aes, 'B'), one(2), one(1), one(1)],
    );
    expect(splitKeytab(file, 'HTTP@A')).toEqual([
      keytab(one(1)),
      keytab(one(1)),
      keytab(one(2)),
      keytab(one(1), one(1, rc4)),
    ]);
  });
});

describe('parseKeytab', () => {
  it('reads every entry and skips gaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.option(gap()), key()), { maxLength: 6 }),
        items => {
          const parts = items.flatMap(([hole, item]) => [
            hole ?? Buffer.alloc(0),
            entry(item),
          ]);
          expect(parseKeytab(keytab(...parts))).toEqual(
            items.map(([, { components, realm, kvno, type }]) => ({
              principal: `${components.join('/')}@${realm}`,
              kvno,
              encryptionType: type,
            })),
          );
        },
      ),
    );
  });

  it('returns the entries before a truncated one', () => {
    fc.assert(
      fc.property(key(), key(), fc.nat(), (first, second, at) => {
        const whole = entry(second);
        const cut = whole.subarray(0, at % whole.length);
        expect(parseKeytab(keytab(entry(first), cut))).toHaveLength(1);
      }),
    );
  });

  it('returns undefined for other files', () => {
    expect(parseKeytab(Buffer.alloc(0))).toBeUndefined();
    expect(parseKeytab(Buffer.alloc(100))).toBeUndefined();
    expect(parseKeytab(Buffer.from('[libdefaults]\n'))).toBeUndefined();
  });

  it('does not throw for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
        expect(parseKeytab(keytab(Buffer.from(bytes)))).toBeInstanceOf(Array);
      }),
    );
  });
});
