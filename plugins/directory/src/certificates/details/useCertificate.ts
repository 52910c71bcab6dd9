import {
  type Certificate,
  type DirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  collect,
  loadReader,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';
import type { ReadCertificate } from './readCertificate';

/** A certificate and its parsed chain, leaf first. */
export interface CertificateDetails {
  certificate: Certificate;
  chain: readonly ReadCertificate[];
}

/** Queries a certificate by its serial number. */
export function useCertificate(serial: bigint | undefined) {
  return useDirectoryQuery({
    key: ['certificate', String(serial)],
    enabled: serial !== undefined,
    load: async (client, signal): Promise<CertificateDetails> => {
      const [certificate, { readCertificate }] = await Promise.all([
        loadCertificate(serial!, client, signal),
        import('./readCertificate'), // loads the parser only when it is needed
      ]);
      const encoded = certificate.certificate_chain ?? [
        certificate.certificate,
      ];
      return { certificate, chain: encoded.map(readCertificate) };
    },
  });
}

/**
 * Loads the certificate of a serial number from the record of its CA, or from
 * the user's own entry when another CA has issued it.
 *
 * @throws DirectoryResponseError 404 when there is neither
 */
async function loadCertificate(
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
    const own = await listOwn(client, signal);
    const found = own.find(({ serial_number }) => serial_number === serial);
    if (!found) {
      throw error;
    }
    return found;
  }
}

async function listOwn(
  client: DirectoryClient,
  signal: AbortSignal,
): Promise<Certificate[]> {
  const username = await loadReader(client, signal);
  if (!username) {
    return [];
  }
  const own = await collect(
    query =>
      client.get('/users/{username}/certificates/', {
        params: {
          path: { username },
          query,
          header: { 'X-Fields': '*,issued_here' },
        },
        signal,
      }),
    signal,
  );
  // The mask selects all fields.
  return own as Certificate[];
}
