/** What a PEM block holds (RFC 7468). */
export type PemLabel =
  | 'CERTIFICATE'
  | 'CERTIFICATE REQUEST'
  | 'PRIVATE KEY'
  | 'ENCRYPTED PRIVATE KEY';

/** Puts bytes, or their base64 on one line, into PEM. */
export function toPem(label: PemLabel, content: ArrayBuffer | string): string {
  const base64 = typeof content === 'string' ? content : toBase64(content);
  const lines = base64.match(/.{1,64}/g) ?? [];
  return [
    `-----BEGIN ${label}-----`,
    ...lines,
    `-----END ${label}-----`,
    '',
  ].join('\n');
}

function toBase64(bytes: ArrayBuffer): string {
  let binary = '';
  for (const byte of new Uint8Array(bytes)) {
    binary += String.fromCharCode(byte);
  }
  return btoa(binary);
}
