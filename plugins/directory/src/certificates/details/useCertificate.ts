import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../../api';
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
      const [{ data }, { readCertificate }] = await Promise.all([
        client.get('/certs/{serial_number}/', {
          params: { path: { serial_number: serial! } },
          signal,
        }),
        import('./readCertificate'), // a parser, for these pages only
      ]);
      // Without a mask every field is there.
      const certificate = data.result as Certificate;
      const encoded = certificate.certificate_chain ?? [
        certificate.certificate,
      ];
      return { certificate, chain: encoded.map(readCertificate) };
    },
  });
}
