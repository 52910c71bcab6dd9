import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import type { SavedFile } from '../components/saveFile';
import { toPem } from './download/toPem';

const PEM = 'application/x-pem-file';

/** A certificate alone. */
export function pemFile(
  certificate: Pick<Certificate, 'certificate' | 'serial_number'>,
): SavedFile {
  return {
    name: `certificate-${certificate.serial_number}.pem`,
    type: PEM,
    content: certificate.certificate,
  };
}

/** A certificate and its issuers, leaf first, the order of TLS (RFC 8446). */
export function chainFile(
  certificate: Pick<Certificate, 'serial_number'>,
  chain: readonly string[],
): SavedFile {
  return {
    name: `certificate-${certificate.serial_number}-chain.pem`,
    type: PEM,
    content: chain.map(one => toPem('CERTIFICATE', one)).join(''),
  };
}
