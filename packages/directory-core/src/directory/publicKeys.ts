import { createHash } from 'node:crypto';

/** An OpenSSH public key, after options and before a comment. */
const SSH_KEY = /(?:^|\s)(?:ssh|ecdsa|sk)-[\w@.-]+[ \t]+([A-Za-z0-9+/]+={0,2})/;

/** Length of the shortest OpenPGP key ID that identifies a key. */
const MIN_ID = 16;

/** Length of a fingerprint of OpenPGP version 4. */
const V4_FINGERPRINT = 40;

/**
 * Returns the normalized identifier of a public key: the fingerprint of an SSH
 * key as OpenSSH prints it, `SHA256:` and base64 without padding; an OpenPGP
 * key ID or fingerprint in upper-case hexadecimal digits. Other text is
 * returned without spaces, in upper case.
 *
 * @param text - an SSH key as in a line of authorized_keys, an SSH fingerprint,
 *   or an OpenPGP key ID or fingerprint
 */
export function publicKeyId(text: string): string {
  const [, blob] = SSH_KEY.exec(text) ?? [];
  if (blob) {
    const digest = createHash('sha256').update(blob, 'base64').digest('base64');
    return `SHA256:${digest.replace(/=+$/, '')}`;
  }
  const compact = text.replace(/\s+/g, '');
  return /^SHA256:/i.test(compact)
    ? `SHA256:${compact.slice('SHA256:'.length).replace(/=+$/, '')}`
    : compact.replace(/^0x/i, '').toUpperCase();
}

/**
 * Whether two IDs of {@link publicKeyId} may identify one key. An OpenPGP key
 * ID is the end of a fingerprint of version 4, and the start of a later one
 * (RFC 9580 §5.5.4).
 */
export function isSameKey(one: string, other: string): boolean {
  if (one.length === other.length) {
    return one === other;
  }
  const [id, whole] = one.length < other.length ? [one, other] : [other, one];
  if (id.length < MIN_ID || whole.startsWith('SHA256:')) {
    return false;
  }
  return whole.length > V4_FINGERPRINT
    ? whole.startsWith(id)
    : whole.endsWith(id);
}
