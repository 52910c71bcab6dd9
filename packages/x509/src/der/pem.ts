/**
 * Reads the PEM blocks with a label from a trusted text, such as the file of a certificate chain.
 * Other blocks, and text between blocks, are ignored.
 *
 * @param options - `label`: `CERTIFICATE`, `X509 CRL`, …
 * @returns the DER of each block, in order
 * @throws TypeError when a block has no end or is not Base64
 *
 * @public
 */
export function readPemBlocks(
  text: string,
  options: { label: string },
): Buffer[] {
  const begin = `-----BEGIN ${options.label}-----`;
  const end = `-----END ${options.label}-----`;
  const [, ...blocks] = text.split(begin);
  return blocks.map(block => {
    const length = block.indexOf(end);
    const base64 = block.slice(0, Math.max(length, 0)).replace(/\s+/g, '');
    const der = Buffer.from(base64, 'base64');
    if (der.length === 0 || der.toString('base64') !== base64) {
      throw new TypeError(
        `A PEM block with the label ${options.label} is damaged`,
      );
    }
    return der;
  });
}

/**
 * Writes a PEM block (RFC 7468) in lines of 64 characters, each with a `\n` at its end.
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
