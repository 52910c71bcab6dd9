/** A passphrase has so many characters at least. */
export const SHORTEST_PASSPHRASE = 8;

/**
 * Whether every program will read a file under this passphrase: beyond ASCII
 * they disagree on how to write it in a PKCS#12 file (RFC 7292 appendix B.1
 * asks for UTF-16, RFC 8018 for UTF-8).
 */
export function isPassphrase(text: string): boolean {
  return text.length >= SHORTEST_PASSPHRASE && /^[ -~]+$/.test(text);
}
