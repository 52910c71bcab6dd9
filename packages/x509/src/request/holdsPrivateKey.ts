/**
 * How private keys begin in text: any PEM block for one, OpenSSH's among them (its label is
 * `OPENSSH PRIVATE KEY`), SSH.com's, and PuTTY's files.
 */
const MARKS = [
  /BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY/i,
  /^\s{0,8}PuTTY-User-Key-File-/im,
];

/**
 * Tells whether a text that should be a certificate request holds somebody's private key. Damage to
 * the dashes, the line ends or the end of the block makes no difference: what was sent was sent.
 */
export function holdsPrivateKey(text: string): boolean {
  return MARKS.some(mark => mark.test(text));
}
