import fc from 'fast-check';
import { CompactEncrypt, EncryptJWT, SignJWT, UnsecuredJWT } from 'jose';
import { SecretKeys } from '../../secretKeys';
import { SessionTokens } from './SessionTokens';

const NOW = Date.UTC(2026, 0, 1);
const audience = 'https://portal.example.org/api/directory';
const maxAgeMs = 15 * 60 * 1000;

const keys = SecretKeys.random('test');
const tokens = new SessionTokens({ keys, audience, maxAgeMs });

beforeEach(() => {
  jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

const header = {
  alg: 'dir',
  enc: 'A256CBC-HS512',
  typ: 'directory-session+jwt',
  kid: keys.current.id,
};

const issued = NOW / 1000;
const claims = {
  sub: 'alice@EXAMPLE.TEST',
  aud: audience,
  iat: issued,
  exp: issued + 900,
};

it('opens a token until it expires', async () => {
  const expiresAt = NOW + maxAgeMs;
  const sealed = await tokens.seal('alice@EXAMPLE.TEST');
  expect(sealed.expiresAt).toBe(expiresAt);
  const good = {
    outcome: 'accepted',
    session: { principal: 'alice@EXAMPLE.TEST', expiresAt },
  };
  expect(await tokens.open(sealed.token)).toEqual(good);
  jest.setSystemTime(expiresAt - 1);
  expect(await tokens.open(sealed.token)).toEqual(good);
  for (const later of [0, 4999, 5000, 86_400_000]) {
    jest.setSystemTime(expiresAt + later);
    expect(await tokens.open(sealed.token)).toEqual({ outcome: 'expired' });
  }
});

it('applies a maximum age that was reduced later', async () => {
  const { token } = await tokens.seal('alice@EXAMPLE.TEST');
  const shorter = new SessionTokens({ keys, audience, maxAgeMs: 60_000 });
  expect(await shorter.open(token)).toMatchObject({
    session: { expiresAt: NOW + 60_000 },
  });
  jest.setSystemTime(NOW + 60_000);
  expect(await shorter.open(token)).toEqual({ outcome: 'expired' });
  expect(await tokens.open(token)).toMatchObject({ outcome: 'accepted' });
});

it('accepts a token of a process whose clock is 5 seconds ahead', async () => {
  const { token } = await tokens.seal('alice@EXAMPLE.TEST');
  jest.setSystemTime(NOW - 5000);
  expect(await tokens.open(token)).toMatchObject({ outcome: 'accepted' });
  jest.setSystemTime(NOW - 6000);
  expect(await tokens.open(token)).toEqual({ outcome: 'rejected' });
});

it('encrypts tokens', async () => {
  const { token } = await tokens.seal('alice@EXAMPLE.TEST');
  const readable = token
    .split('.')
    .map(part => Buffer.from(part, 'base64url').toString('latin1'))
    .join();
  expect(readable).not.toMatch(/alice|EXAMPLE|portal/);
  expect((await tokens.seal('alice@EXAMPLE.TEST')).token).not.toBe(token);
});

it('rejects a token after any change', async () => {
  const { token } = await tokens.seal('alice@EXAMPLE.TEST');
  const alphabet = [...'AZaz09-_.=+/ %~é'];
  for (let at = 0; at <= token.length; at++) {
    const [before, after] = [token.slice(0, at), token.slice(at + 1)];
    const changes = new Set([
      before + after,
      ...alphabet.map(character => before + character + token.slice(at)),
      ...alphabet.map(character => before + character + after),
    ]);
    changes.delete(token);
    for (const changed of changes) {
      expect(await tokens.open(changed)).toEqual({ outcome: 'rejected' });
    }
  }
});

describe('SessionTokens.open', () => {
  const sealedAs = (
    changedHeader: object,
    changedClaims: object = {},
    key = keys.current.key,
  ) =>
    new EncryptJWT({ ...claims, ...changedClaims })
      .setProtectedHeader({ ...header, ...changedHeader })
      .encrypt(key);

  it('accepts an unmodified test token', async () => {
    expect(await tokens.open(await sealedAs({}))).toMatchObject({
      outcome: 'accepted',
    });
  });

  it.each([
    ['of another purpose', { typ: 'JWT' }, {}],
    ['without a purpose', { typ: undefined }, {}],
    ['without a key ID', { kid: undefined }, {}],
    ['of an unknown key', { kid: 'other' }, {}],
    ['of another portal', {}, { aud: 'https://other.example.org' }],
    ['without an audience', {}, { aud: undefined }],
    ['without a subject', {}, { sub: undefined }],
    ['without an expiry', {}, { exp: undefined }],
    ['without an issue time', {}, { iat: undefined }],
    ['from the future', {}, { iat: issued + 60 }],
    ['not yet valid', {}, { nbf: issued + 60 }],
  ])('rejects a token %s', async (_what, changedHeader, changedClaims) => {
    const token = await sealedAs(changedHeader, changedClaims);
    expect(await tokens.open(token)).toEqual({ outcome: 'rejected' });
  });

  it('rejects a token of another key with the same ID', async () => {
    const { current } = SecretKeys.random('test');
    const token = await sealedAs({}, {}, current.key);
    expect(await tokens.open(token)).toEqual({ outcome: 'rejected' });
  });

  it('limits a longer lifetime', async () => {
    const token = await sealedAs({}, { exp: issued + 86_400 });
    expect(await tokens.open(token)).toMatchObject({
      session: { expiresAt: NOW + maxAgeMs },
    });
  });

  it('rejects tokens that are signed, wrapped, unencrypted or encrypted differently', async () => {
    const { key } = keys.current;
    const raw = key.export();
    const bytes = new TextEncoder().encode(JSON.stringify(claims));
    const others = [
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims)
        .setProtectedHeader({ ...header, alg: 'HS512' })
        .sign(raw),
      await new CompactEncrypt(bytes)
        .setProtectedHeader({ ...header, alg: 'A256KW' })
        .encrypt(raw.subarray(0, 32)),
      await new CompactEncrypt(bytes)
        .setProtectedHeader({ ...header, enc: 'A256GCM' })
        .encrypt(raw.subarray(0, 32)),
      await new CompactEncrypt(new TextEncoder().encode('no claims'))
        .setProtectedHeader(header)
        .encrypt(key),
    ];
    for (const other of others) {
      expect(await tokens.open(other)).toEqual({ outcome: 'rejected' });
    }
  });

  it('rejects random tokens', async () => {
    const noHeader = fc.oneof(
      fc.base64String().map(text => text.replace(/=/g, '')),
      fc.uint8Array({ maxLength: 64 }).map(base64url),
      fc.json().map(text => base64url(Buffer.from(text))),
      fc.constant(''),
      fc.string(),
    );
    const someHeader = fc.oneof(
      fc
        .record(
          {
            alg: fc.constantFrom('dir', 'none', 'A256KW', 'PBES2-HS512+A256KW'),
            enc: fc.constantFrom('A256CBC-HS512', 'A256GCM', ''),
            kid: fc.constantFrom(keys.current.id, 'x', 1, null, ''),
            typ: fc.constantFrom(header.typ, null),
            zip: fc.constant('DEF'),
            crit: fc.constantFrom([], ['exp'], ['b64'], 'x'),
            p2c: fc.constant(1e9),
          },
          { requiredKeys: [] },
        )
        .map(object => base64url(Buffer.from(JSON.stringify(object)))),
      fc.constant(base64url(Buffer.from(JSON.stringify(header)))),
    );
    const part = fc.oneof(noHeader, someHeader);
    const parts = fc.oneof(
      fc.array(part, { maxLength: 6 }),
      fc.tuple(someHeader, part, part, part, part),
      fc.tuple(someHeader, noHeader, noHeader, noHeader, noHeader),
    );
    await fc.assert(
      fc.asyncProperty(parts, async some => {
        expect(await tokens.open(some.join('.'))).toEqual({
          outcome: 'rejected',
        });
      }),
    );
  });
});

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
