import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import type { SavedFile } from '../components/saveFile';

const PEM = 'application/x-pem-file';

/** Returns a PEM file of a certificate without its chain. */
export function pemFile(
  certificate: Pick<Certificate, 'certificate' | 'serial_number'>,
): SavedFile {
  return {
    name: `certificate-${certificate.serial_number}.pem`,
    type: PEM,
    content: certificate.certificate,
  };
}

/** Returns a PEM file of a certificate and its issuers. */
export function chainFile(
  certificate: Pick<
    Certificate,
    'certificate' | 'certificate_chain' | 'serial_number'
  >,
): SavedFile {
  return {
    name: `certificate-${certificate.serial_number}-chain.pem`,
    type: PEM,
    content: chainText(certificate),
  };
}

/**
 * Returns a certificate and its issuers, as far as they are known, in PEM: leaf
 * first, as TLS clients send them (RFC 8446).
 */
export function chainText({
  certificate,
  certificate_chain: chain,
}: Pick<Certificate, 'certificate' | 'certificate_chain'>): string {
  return chain?.map(one => toPem('CERTIFICATE', one)).join('') ?? certificate;
}

/**
 * Returns the name, without an extension, of a file with the key of a
 * certificate: the user name and the date of expiry, so that a renewal does not
 * have the same name.
 */
export function keyFileName(
  username: string,
  { valid_not_after: end }: Pick<Certificate, 'valid_not_after'>,
): string {
  const [date] = new Date(end).toISOString().split('T');
  return `${username}-${date}`;
}

/** Decodes the first PEM block in a text, or plain base64. */
export function fromPem(text: string): Uint8Array<ArrayBuffer> {
  const block = /-----BEGIN [^-]+-----([^-]*)-----END/.exec(text);
  const binary = atob((block?.[1] ?? text).replace(/\s+/g, ''));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}

/** Label of a PEM block (RFC 7468). */
type PemLabel =
  | 'CERTIFICATE'
  | 'CERTIFICATE REQUEST'
  | 'PRIVATE KEY'
  | 'ENCRYPTED PRIVATE KEY';

/** Encodes bytes, or base64 on one line, as PEM. */
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

/** Returns a private key as unencrypted PKCS#8 in PEM. */
export async function exportKey(privateKey: CryptoKey): Promise<string> {
  return toPem(
    'PRIVATE KEY',
    await crypto.subtle.exportKey('pkcs8', privateKey),
  );
}
