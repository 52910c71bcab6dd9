import { toPem } from '../download/toPem';

/** A private key as PKCS#8 in PEM, not encrypted. */
export async function exportKey(privateKey: CryptoKey): Promise<string> {
  return toPem(
    'PRIVATE KEY',
    await crypto.subtle.exportKey('pkcs8', privateKey),
  );
}
