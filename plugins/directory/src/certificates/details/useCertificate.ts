import {
  type Certificate,
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  loadCurrentUser,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';
import { ALL_FIELDS, listCertificates } from '../userCertificates';
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
 * Loads a certificate by its serial number from the record of its CA, or from
 * the user's own entry when another CA issued it.
 *
 * @throws DirectoryResponseError 404 when neither exists
 */
export async function loadCertificate(
  serial: bigint,
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<Certificate> {
  try {
    const { data } = await client.get('/certs/{serial_number}/', {
      params: {
        path: { serial_number: serial },
        header: { 'X-Fields': ALL_FIELDS },
      },
      signal,
    });
    // The API returns 404 for certificates that its CAs have not recorded.
    return { ...data.result, issued_here: true } as Certificate;
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
          mask: ALL_FIELDS,
        })
      : [];
    const found = own.find(({ serial_number }) => serial_number === serial);
    if (!found) {
      throw error;
    }
    return found as Certificate; // the mask selects all fields
  }
}
