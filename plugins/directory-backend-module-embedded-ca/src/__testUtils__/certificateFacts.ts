import { X509Certificate } from 'node:crypto';
import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';

/** The serial number as Node reads it. */
export function serialNumberOf(
  issued: Pick<IssuedCertificate, 'certificate'>,
): bigint {
  return BigInt(`0x${new X509Certificate(issued.certificate).serialNumber}`);
}
