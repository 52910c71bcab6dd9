import {
  type Certificate,
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  loadCurrentUser,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';
import { listCertificates } from '../userCertificates';
import type { ParsedCertificate } from './parseCertificate';

/** A certificate and its parsed chain, leaf first. */
export interface CertificateDetails {
  certificate: Certificate;
  chain: readonly ParsedCertificate[];
}

/** Queries a certificate by its serial number. */
export function useCertificate(serial: bigint | undefined) {
  return useDirectoryQuery({
    key: ['certificate', String(serial)],
    enabled: serial !== undefined,
    load: async (client, signal): Promise<CertificateDetails> => {
      const [certificate, { parseCertificate }] = await Promise.all([
        loadCertificate(serial!, client, signal),
        import('./parseCertificate'), // loads the parser only when it is needed
      ]);
      const encoded = certificate.certificate_chain ?? [
        certificate.certificate,
      ];
      return { certificate, chain: encoded.map(parseCertificate) };
    },
  });
}

/**
 * Loads the certificate of a serial number from the record of its CA, or from
 * the user's own entry when another CA has issued it.
 *
 * @throws DirectoryResponseError 404 when there is neither
 */
export async function loadCertificate(
  serial: bigint,
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<Certificate> {
  try {
    const { data } = await client.get('/certs/{serial_number}/', {
      params: { path: { serial_number: serial } },
      signal,
    });
    // Certificates without a record of a CA are 404.
    return { ...data.result, issued_here: true };
  } catch (error) {
    if (!isDirectoryResponseError(error) || error.status !== 404) {
      throw error;
    }
    const username = await loadCurrentUser(client, signal);
    const own = username
      ? await listCertificates({
          client,
          signal,
          username,
          mask: '*,issued_here',
        })
      : [];
    const found = own.find(({ serial_number }) => serial_number === serial);
    if (!found) {
      throw error;
    }
    return found as Certificate; // the mask selects all fields
  }
}
