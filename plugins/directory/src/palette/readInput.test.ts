import { readInput } from './readInput';

describe('readInput', () => {
  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['alice', 'text'],
    ['private keys', 'text'],
    ['component:private-key-store', 'text'],
    ['a'.repeat(201), 'long'],
    ['-----BEGIN EC PRIVATE KEY-----\nAAAA', 'secret'],
    ['-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk', 'secret'],
    ['-----BEGIN PGP PRIVATE KEY BLOCK-----', 'secret'],
    ['PuTTY-User-Key-File-3: ssh-ed25519', 'secret'],
  ])('reads %j as %s', (text, kind) => {
    expect(readInput(text).kind).toBe(kind);
  });

  it.each([
    ['12345', 12345n],
    ['0xff', 255n],
    ['1a:2b', 0x1a2bn],
    ['ada', undefined],
  ])('reads the serial number in %s', (text, serial) => {
    expect(readInput(text)).toMatchObject({ kind: 'text', text, serial });
  });
});
