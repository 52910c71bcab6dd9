import fc from 'fast-check';
import { CompactEncrypt, EncryptJWT, SignJWT, UnsecuredJWT } from 'jose';
import type { KeyObject } from 'node:crypto';
import { loadSessionKeys } from './SessionKeys';
import { openSession, sealSession, type TokenOptions } from './SessionTokens';

const NOW = Date.UTC(2026, 0, 1);
const audience = 'https://portal.example.org/api/directory';
const maxAgeMs = 15 * 60 * 1000;

let options: TokenOptions;
let header: { alg: string; enc: string; typ: string; kid: string };
let key: KeyObject;
const seal = () => sealSession('alice@EXAMPLE.TEST', options);
const open = (token: string) => openSession(token, options);

beforeAll(async () => {
  const keys = await loadSessionKeys({});
  options = { keys, audience };
  const [[kid, first]] = keys;
  key = first;
  header = {
    alg: 'dir',
    enc: 'A256CBC-HS512',
    typ: 'directory-session+jwt',
    kid,
  };
});

beforeEach(() => {
  jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

const issued = NOW / 1000;
const claims = {
  sub: 'alice@EXAMPLE.TEST',
  aud: audience,
  iat: issued,
  exp: issued + 900,
};

it('opens a token until it expires', async () => {
  const expiresAt = NOW + maxAgeMs;
  const token = await seal();
  const session = { principal: 'alice@EXAMPLE.TEST', expiresAt };
  expect(await open(token)).toEqual(session);
  jest.setSystemTime(expiresAt - 1);
  expect(await open(token)).toEqual(session);
  for (const later of [0, 4999, 5000, 86_400_000]) {
    jest.setSystemTime(expiresAt + later);
    expect(await open(token)).toBe('expired');
  }
});

it('opens tokens of any key and seals with the first', async () => {
  const [one, two] = await Promise.all([
    loadSessionKeys({}),
    loadSessionKeys({}),
  ]);
  const old = { ...options, keys: one };
  const rotated = { ...options, keys: new Map([...two, ...one]) };
  const fresh = await sealSession('alice@EXAMPLE.TEST', rotated);
  expect(
    await openSession(await sealSession('alice@EXAMPLE.TEST', old), rotated),
  ).toMatchObject({ principal: 'alice@EXAMPLE.TEST' });
  expect(await openSession(fresh, old)).toBe('rejected');
});

it('accepts a token of a process whose clock is 5 seconds ahead', async () => {
  const token = await seal();
  jest.setSystemTime(NOW - 5000);
  expect(await open(token)).toMatchObject({ principal: 'alice@EXAMPLE.TEST' });
  jest.setSystemTime(NOW - 6000);
  expect(await open(token)).toBe('rejected');
});

it('encrypts tokens', async () => {
  const token = await seal();
  const readable = token
    .split('.')
    .map(part => Buffer.from(part, 'base64url').toString('latin1'))
    .join();
  expect(readable).not.toMatch(/alice|EXAMPLE|portal/);
  expect(await seal()).not.toBe(token);
});

it('rejects a token after any change', async () => {
  const token = await seal();
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
      expect(await open(changed)).toBe('rejected');
    }
  }
});

describe('openSession', () => {
  const sealedAs = (
    changedHeader: object,
    changedClaims: object = {},
    usedKey = key,
  ) =>
    new EncryptJWT({ ...claims, ...changedClaims })
      .setProtectedHeader({ ...header, ...changedHeader })
      .encrypt(usedKey);

  it('accepts an unmodified test token', async () => {
    expect(await open(await sealedAs({}))).toMatchObject({
      principal: 'alice@EXAMPLE.TEST',
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
    expect(await open(token)).toBe('rejected');
  });

  it('rejects a token of another key with the same ID', async () => {
    const [[, other]] = await loadSessionKeys({});
    const token = await sealedAs({}, {}, other);
    expect(await open(token)).toBe('rejected');
  });

  it('limits a longer lifetime', async () => {
    const token = await sealedAs({}, { exp: issued + 86_400 });
    expect(await open(token)).toMatchObject({ expiresAt: NOW + maxAgeMs });
  });

  it('rejects tokens that are signed, wrapped, unencrypted or encrypted differently', async () => {
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
      expect(await open(other)).toBe('rejected');
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
            kid: fc.constantFrom(header.kid, 'x', 1, null, ''),
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
        expect(await open(some.join('.'))).toBe('rejected');
      }),
    );
  });
});

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
