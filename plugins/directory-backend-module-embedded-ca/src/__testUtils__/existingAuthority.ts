import { generateKeyPairSync } from 'node:crypto';
import { createCaCertificate, Issuer, writePem } from '@directory-gateway/x509';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A CA below a corporate root: its key and chain, PEM. */
export function existingAuthority(): {
  readonly key: string;
  readonly chain: string;
  /** The chain with a new certificate for the same key. */
  renew(): string;
} {
  const root = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const below = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const time = {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 365 * DAY_MS),
  };
  const rootCertificate = createCaCertificate({
    ...time,
    subject: [{ type: 'CN', value: 'Corporate root' }],
    privateKey: root.privateKey,
    pathLength: 1,
  });
  let serialNumber = 1n;
  const certify = () =>
    Issuer.create({
      certificate: rootCertificate,
      privateKey: root.privateKey,
    }).signCertificate({
      ...time,
      serialNumber: ++serialNumber,
      subject: [{ type: 'CN', value: 'People' }],
      extensions: {
        basicConstraints: { ca: true, pathLength: 0 },
        keyUsage: ['keyCertSign', 'cRLSign'],
      },
      spki: below.publicKey.export({ type: 'spki', format: 'der' }),
    });
  const toPem = (...chain: readonly Buffer[]) =>
    chain.map(der => writePem('CERTIFICATE', der)).join('');
  return {
    key: below.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chain: toPem(certify(), rootCertificate),
    renew: () => toPem(certify(), rootCertificate),
  };
}
