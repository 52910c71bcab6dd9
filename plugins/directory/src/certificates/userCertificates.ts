import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import {
  collect,
  LARGEST_PAGE,
  useDirectoryQuery,
} from '../api/useDirectoryQuery';

const FIELDS = [
  'subject',
  'issuer',
  'serial_number',
  'serial_number_hex',
  'revoked',
  'issued_here',
  'valid_not_before',
  'valid_not_after',
] as const satisfies readonly (keyof Certificate)[];

/** A certificate in a list. */
export type ListedCertificate = Pick<Certificate, (typeof FIELDS)[number]>;

/** Asks for somebody's certificates, the newest first. */
export function useCertificates(username: string) {
  return useDirectoryQuery({
    key: ['certificates', username],
    load: async (client, signal): Promise<ListedCertificate[]> => {
      const certificates = await collect(
        ({ page_number }) =>
          client.get('/users/{username}/certificates/', {
            params: {
              path: { username },
              query: { page_number, page_size: LARGEST_PAGE },
              header: { 'X-Fields': FIELDS.join(',') },
            },
            signal,
          }),
        signal,
      );
      // The mask asks for exactly these fields, so that none is missing.
      return certificates as ListedCertificate[];
    },
  });
}
