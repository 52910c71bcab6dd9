import { generateKeyPairSync } from 'node:crypto';
import { readSshKey } from './readSshKey';

const ED25519 =
  'AAAAC3NzaC1lZDI1NTE5AAAAIBNk9dhxew1YA8qNmqajt0N/9Z/OY5EfC9Czz7pm3px1';

/** A line as written by ssh-keygen. */
function rsaLine(modulusLength: number): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const { e, n } = publicKey.export({ format: 'jwk' });
  const string = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([
    string(Buffer.from('ssh-rsa')),
    string(Buffer.from(e!, 'base64url')),
    // mpint: a leading zero byte if the first bit is set
    string(Buffer.concat([Buffer.of(0), Buffer.from(n!, 'base64url')])),
  ]);
  return `ssh-rsa ${blob.toString('base64')} somebody`;
}

describe('readSshKey', () => {
  it('parses type, size and comment', () => {
    expect(readSshKey(`ssh-ed25519 ${ED25519} karl@laptop, new`)).toMatchObject(
      { type: 'ssh-ed25519', bits: 256, comment: 'karl@laptop, new' },
    );
    expect(readSshKey(rsaLine(2048))).toMatchObject({
      type: 'ssh-rsa',
      bits: 2048,
      comment: 'somebody',
    });
    expect(readSshKey(rsaLine(3072))?.bits).toBe(3072);
  });

  it('removes the options of a key', () => {
    expect(
      readSshKey(`command="rm -rf /",no-pty ssh-ed25519 ${ED25519} karl`)?.line,
    ).toBe(`ssh-ed25519 ${ED25519} karl`);
    expect(
      readSshKey(`ssh-ed25519 ${ED25519} karl\nssh-ed25519 ${ED25519} mallory`)
        ?.line,
    ).toBe(`ssh-ed25519 ${ED25519} karl`);
  });

  it.each([
    '',
    'no key at all',
    'ssh-ed25519',
    'ssh-ed25519 AAAA',
    `ssh-rsa ${ED25519}`,
    'ssh-ed25519 ////////////',
  ])('rejects %j', text => {
    expect(readSshKey(text)).toBeUndefined();
  });
});
