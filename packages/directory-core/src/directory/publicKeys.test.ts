import { isSameKey, publicKeyId } from './publicKeys';

// Made with ssh-keygen -t ed25519; the fingerprint is that of ssh-keygen -l.
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBNk9dhxew1YA8qNmqajt0N/9Z/OY5EfC9Czz7pm3px1';
const FINGERPRINT = 'SHA256:4hXFlZjwTr/iSzwWdCOSiJJt1LBXrj3vQfZbWW2d88A';

const V4 = 'DEADBEEFDEADBEEFDEADBEEF0123456789ABCDEF';
const V6 = `0123456789ABCDEF${'F'.repeat(48)}`;

describe('publicKeyId', () => {
  it.each([
    [KEY, FINGERPRINT],
    [`${KEY} alice@laptop`, FINGERPRINT],
    [`from="10.0.0.0/8",no-pty ${KEY} a`, FINGERPRINT],
    [FINGERPRINT, FINGERPRINT],
    [`sha256:${FINGERPRINT.slice(7)}=`, FINGERPRINT],
    ['0x0123 4567 89ab cdef', '0123456789ABCDEF'],
    ['no key', 'NOKEY'],
  ])('identifies %s', (text, id) => {
    expect(publicKeyId(text)).toBe(id);
  });
});

describe('isSameKey', () => {
  it.each([
    [FINGERPRINT, FINGERPRINT, true],
    ['0123456789ABCDEF', V4, true],
    [V4, '0123456789ABCDEF', true],
    ['0123456789ABCDEF', V6, true],
    ['DEADBEEFDEADBEEF', V4, false],
    ['89ABCDEF', V4, false],
    ['', V4, false],
    [V4, V6, false],
  ])('compares %s with %s: %s', (one, other, isSame) => {
    expect(isSameKey(one, other)).toBe(isSame);
  });
});
