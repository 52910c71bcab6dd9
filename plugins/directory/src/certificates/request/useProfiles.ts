import type { CertificateProfile } from '@directory-gateway/backstage-plugin-directory-common';
import { useDirectoryQuery } from '../../api/useDirectoryQuery';

/** Asks for the certificate profiles that the reader may use. */
export function useProfiles() {
  return useDirectoryQuery({
    key: ['certificate-profiles'],
    load: async (client, signal): Promise<readonly CertificateProfile[]> =>
      (await client.get('/certs/profiles/', { signal })).data.result,
  });
}
