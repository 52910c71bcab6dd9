import type { PublicKeyInfo } from 'pkijs';

const EC = '1.2.840.10045.2.1';
const RSA = '1.2.840.113549.1.1.1';

const curves: Readonly<Record<string, string>> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

const algorithms: Readonly<Record<string, string>> = {
  '1.3.101.112': 'Ed25519',
  '1.3.101.113': 'Ed448',
  '1.2.840.113549.1.1.10': 'RSA-PSS',
};

/** A public key in words: `EC P-256`, `RSA 3072`; the OID of an unusual one. */
export function describeKey(info: PublicKeyInfo): string {
  const { algorithmId, algorithmParams } = info.algorithm;
  const key = info.parsedKey;
  if (algorithmId === RSA && key && 'modulus' in key) {
    // DER writes a zero before a leading bit of 1.
    const bytes = key.modulus.valueBlock.valueHexView;
    const hex = Array.from(bytes, byte => byte.toString(2).padStart(8, '0'));
    return `RSA ${hex.join('').replace(/^0+/, '').length}`;
  }
  if (algorithmId === EC) {
    const curve = String(algorithmParams?.valueBlock?.toString() ?? '');
    return `EC ${curves[curve] ?? curve}`;
  }
  return algorithms[algorithmId] ?? algorithmId;
}
