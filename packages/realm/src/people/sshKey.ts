import { publicKeyOfSeed } from './ed25519';

/**
 * A real Ed25519 key in the form of `authorized_keys` (RFC 8709 §4).
 *
 * @param seed - 32 octets, the private key
 */
export function sshKey(seed: Buffer, comment: string): string {
  const blob = Buffer.concat(
    [Buffer.from('ssh-ed25519'), publicKeyOfSeed(seed)].map(sshString),
  );
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`;
}

function sshString(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}
