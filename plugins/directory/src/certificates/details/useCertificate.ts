import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../../api/useDirectoryQuery';
import { loadCertificate } from './loadCertificate';
import type { ReadCertificate } from './readCertificate';

/** A certificate, and what it and its issuers say themselves, leaf first. */
export interface CertificateDetails {
  certificate: Certificate;
  chain: readonly ReadCertificate[];
}

/** Asks for a certificate by its serial number. */
export function useCertificate(serial: bigint | undefined) {
  return useDirectoryQuery({
    key: ['certificate', String(serial)],
    enabled: serial !== undefined,
    load: async (client, signal): Promise<CertificateDetails> => {
      const [certificate, { readCertificate }] = await Promise.all([
        loadCertificate(serial!, client, signal),
        import('./readCertificate'), // a parser, for these pages only
      ]);
      const encoded = certificate.certificate_chain ?? [
        certificate.certificate,
      ];
      return { certificate, chain: encoded.map(readCertificate) };
    },
  });
}
