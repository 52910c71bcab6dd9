import { X509Certificate } from 'node:crypto';
import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';

/** Returns the serial number that Node.js reads. */
export function serialNumberOf(
  issued: Pick<IssuedCertificate, 'certificate'>,
): bigint {
  const { serialNumber } = new X509Certificate(issued.certificate.der);
  return BigInt(`0x${serialNumber}`);
}
