import { readInput } from './readInput';

const SSH =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBNk9dhxew1YA8qNmqajt0N/9Z/OY5EfC9Czz7pm3px1';
const pem = (label: string) =>
  `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;

describe('readInput', () => {
  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['alice', 'text'],
    [pem('CERTIFICATE'), 'certificate'],
    [pem('CERTIFICATE').replaceAll('\n', ''), 'certificate'],
    [pem('CERTIFICATE REQUEST'), 'csr'],
    [pem('NEW CERTIFICATE REQUEST'), 'csr'],
    [pem('PGP PUBLIC KEY BLOCK'), 'pgpBlock'],
    [SSH, 'sshKey'],
    [`no-pty ${SSH} alice@laptop`, 'sshKey'],
    [`SHA256:${'a'.repeat(43)}`, 'sshFingerprint'],
    [`256 SHA256:${'a'.repeat(43)} alice (ED25519)`, 'sshFingerprint'],
    ['a'.repeat(201), 'long'],
    ['0x0123456789abcdefABCDEF0123456789abcdefABCDEF', 'text'],
    ['SHA256:BNk9dhxew1YA8qNmqajt0N9Z9OY5EfC9Czz7pm3', 'text'],
  ])('reads %j as %s', (text, kind) => {
    expect(readInput(text).kind).toBe(kind);
  });

  it.each([
    pem('PRIVATE KEY'),
    pem('ENCRYPTED PRIVATE KEY'),
    pem('RSA PRIVATE KEY'),
    pem('EC PRIVATE KEY'),
    pem('OPENSSH PRIVATE KEY'),
    pem('OPENSSH PRIVATE KEY').replaceAll('\n', ''),
    pem('PGP PRIVATE KEY BLOCK'),
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAAAA',
    'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none',
    `${pem('CERTIFICATE')}${pem('PRIVATE KEY')}`,
    'AAAA\n-----END PRIVATE KEY-----',
    '\u2014\u2014-BEGIN\u00a0PRIVATE\u00a0KEY\u2014\u2014-AAAA',
    'BEGIN EC PRIVATE KEY----- AAAA',
    'Private-Lines: 1\nAAAA',
    'AGE-SECRET-KEY-1QQQQ',
    '{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"AAAA"}',
    Buffer.from(pem('EC PRIVATE KEY')).toString('base64'),
    'MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF',
  ])('recognizes the private key in %j', text => {
    expect(readInput(text)).toEqual({ kind: 'secret' });
  });

  it.each([
    ['12345', 12345n],
    ['0xff', 255n],
    ['1a:2b', 0x1a2bn],
    ['ada', undefined],
    ['alice', undefined],
  ])('reads the serial number in %s', (text, serial) => {
    expect(readInput(text)).toMatchObject({ kind: 'text', text, serial });
  });

  it.each([
    '0f'.repeat(32),
    '0F:'.repeat(32).slice(0, -1),
    `sha256 Fingerprint=${'0F:'.repeat(32).slice(0, -1)}`,
    `SHA256 Fingerprint=${'0F:'.repeat(32).slice(0, -1)}\n`,
    `Fingerprint: ${'0f '.repeat(32)}`,
  ])('reads the SHA-256 fingerprint in %j', text => {
    expect(readInput(text)).toEqual({
      kind: 'fingerprint',
      fingerprint: '0F'.repeat(32),
    });
  });

  it('reads an OpenPGP key', () => {
    expect(readInput('0x0123 4567 89ab cdef')).toMatchObject({
      openPgpKey: '0123456789ABCDEF',
    });
  });
});
