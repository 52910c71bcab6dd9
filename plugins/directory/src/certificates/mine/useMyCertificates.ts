import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import {
  collect,
  LARGEST_PAGE,
  useDirectoryQuery,
} from '../../api/useDirectoryQuery';

const FIELDS = [
  'subject',
  'issuer',
  'serial_number',
  'serial_number_hex',
  'sha256_fingerprint',
  'revoked',
  'issued_here',
  'valid_not_before',
  'valid_not_after',
  'certificate',
  'certificate_chain',
] as const satisfies readonly (keyof Certificate)[];

/** A certificate of the reader's. */
export type MyCertificate = Pick<Certificate, (typeof FIELDS)[number]>;

/** Asks for the reader's own certificates, the newest first. */
export function useMyCertificates(username: string | null | undefined) {
  return useDirectoryQuery({
    key: ['my-certificates', username],
    enabled: Boolean(username),
    load: async (client, signal): Promise<MyCertificate[]> => {
      const certificates = await collect(
        ({ page_number }) =>
          client.get('/users/{username}/certificates/', {
            params: {
              path: { username: username! },
              query: { page_number, page_size: LARGEST_PAGE },
              header: { 'X-Fields': FIELDS.join(',') },
            },
            signal,
          }),
        signal,
      );
      // The mask asks for exactly these fields, so that none is missing.
      return certificates as MyCertificate[];
    },
  });
}
