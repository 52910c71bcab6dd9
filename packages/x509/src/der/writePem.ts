/**
 * Writes a PEM block (RFC 7468): lines of 64 characters, `\n` after each.
 *
 * @param label - `CERTIFICATE`, `X509 CRL`, …
 *
 * @public
 */
export function writePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [
    `-----BEGIN ${label}-----`,
    ...lines,
    `-----END ${label}-----`,
    '',
  ].join('\n');
}
