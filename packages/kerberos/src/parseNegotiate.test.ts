import fc from 'fast-check';
import {
  MAX_TOKEN_BYTES,
  offersNtlm,
  parseNegotiate as parse,
} from './parseNegotiate';

const refused = (reason: string) => ({ kind: 'refused', reason });

/** Bytes that are not an NTLM message. */
const token = () =>
  fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map(bytes => Buffer.from([0x60, ...bytes]));

/** `negotiate` in mixed case. */
const scheme = () =>
  fc
    .array(fc.boolean(), { minLength: 9, maxLength: 9 })
    .map(upper =>
      [...'negotiate']
        .map((letter, i) => (upper[i] ? letter.toUpperCase() : letter))
        .join(''),
    );

describe('parseNegotiate', () => {
  it('accepts any token, any case of the scheme and any number of spaces', () => {
    fc.assert(
      fc.property(
        scheme(),
        fc.integer({ min: 1, max: 40 }),
        token(),
        fc.boolean(),
        (name, spaces, bytes, asList) => {
          const base64 = bytes.toString('base64');
          const header = `${name}${' '.repeat(spaces)}${base64}`;
          expect(parse(asList ? [header] : header)).toEqual({
            kind: 'token',
            base64,
            bytes,
          });
        },
      ),
    );
  });

  it('accepts canonical base64 only', () => {
    fc.assert(
      fc.property(
        token().map(bytes => bytes.toString('base64')),
        fc.nat(),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
        (base64, at, noise) => {
          fc.pre(noise.trim() !== '' && !/^[A-Za-z0-9+/=]+$/.test(noise));
          const index = at % base64.length;
          const damaged = `${base64.slice(0, index)}${noise}${base64.slice(
            index,
          )}`;
          fc.pre(damaged.trim() === damaged);
          expect(parse(`Negotiate ${damaged}`)).toEqual(
            refused('malformed_token'),
          );
        },
      ),
    );
  });

  it.each([
    ['no token', 'Negotiate'],
    ['spaces without a token', 'Negotiate   '],
    ['missing padding', 'Negotiate YQ'],
    ['padding in the middle', 'Negotiate YQ==YQ=='],
    ['spare bits that are not zero', 'Negotiate YR=='],
    ['the URL-safe alphabet', 'Negotiate -_-_'],
    ['a tab before the token', 'Negotiate \tYWJj'],
    ['two tokens', 'Negotiate YWJj YWJj'],
    ['parameters', 'Negotiate token="YWJj"'],
    ['two credentials in one header', 'Negotiate YWJj, Negotiate YWJj'],
    ['another scheme after the token', 'Negotiate YWJj, Bearer YWJj'],
    ['another scheme before the token', 'Bearer YWJj, Negotiate YWJj'],
  ])('refuses %s as malformed', (_, header) => {
    expect(parse(header)).toEqual(refused('malformed_token'));
  });

  it('refuses several headers as malformed, even equal ones', () => {
    expect(parse(['Negotiate YWJj', 'Negotiate YWJj'])).toEqual(
      refused('malformed_token'),
    );
    expect(parse(['Bearer YWJj', 'Negotiate YWJj'])).toEqual(
      refused('malformed_token'),
    );
  });

  it.each([
    undefined,
    [],
    '',
    '   ',
    'Bearer abc',
    'Basic YTpi',
    'Digest username="negotiate", realm="x"',
    'NegotiateYWJj',
    'Kerberos YWJj',
  ])('finds no Negotiate credentials in %p', header => {
    expect(parse(header)).toEqual(refused('no_credentials'));
  });

  it.each([
    'NTLM TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAAAAAAAKAO5CAAAADw==',
    'ntlm',
    'Negotiate TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAAAAAAAKAO5CAAAADw==',
  ])('refuses NTLM in %p', header => {
    expect(parse(header)).toEqual(refused('ntlm_refused'));
  });

  it('refuses a token one byte above the maximum size with any base64 padding', () => {
    const header = (length: number) =>
      `Negotiate ${Buffer.alloc(length, 0x60).toString('base64')}`;
    for (const length of [0, 1, 2]) {
      expect(parse(header(MAX_TOKEN_BYTES - length))).toMatchObject({
        kind: 'token',
      });
      expect(parse(header(MAX_TOKEN_BYTES + 1 + length))).toEqual(
        refused('token_too_large'),
      );
    }
  });

  it('refuses a header that is too long without decoding it', () => {
    expect(parse(`Negotiate ${'?'.repeat(1_000_000)}`)).toEqual(
      refused('token_too_large'),
    );
  });

  it('returns a token or a refusal for any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
        fc.constantFrom('', 'Negotiate ', 'NTLM ', 'negotiate  '),
        (values, prefix) => {
          expect(parse(values.map(value => prefix + value)).kind).toMatch(
            /^(?:token|refused)$/,
          );
        },
      ),
    );
  });
});

describe('offersNtlm', () => {
  it("detects NTLM's mechanism anywhere in a token", () => {
    const oid = Buffer.from('060a2b06010401823702020a', 'hex');
    fc.assert(
      fc.property(token(), token(), (before, after) => {
        expect(offersNtlm(Buffer.concat([before, oid, after]))).toBe(true);
      }),
    );
  });

  it('does not detect NTLM in a Kerberos token', () => {
    const kerberosOnly = Buffer.from(
      '601d06062b0601050502a0133011a00f300d06092a864886f712010202',
      'hex',
    );
    expect(offersNtlm(kerberosOnly)).toBe(false);
  });
});
