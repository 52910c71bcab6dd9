import { useApi } from '@backstage/frontend-plugin-api';
import { useMutation } from '@tanstack/react-query';
import { directoryApiRef } from '../../../api/directoryApi';

/** Why certificates are revoked, the most common reason first (RFC 5280 §5.3.1). */
export const revocationReasons = [
  'superseded',
  'cessationOfOperation',
  'keyCompromise',
  'affiliationChanged',
  'privilegeWithdrawn',
  'unspecified',
] as const;

/** One of them. */
export type RevocationReason = (typeof revocationReasons)[number];

/** Revokes a certificate; every page then asks anew for what it shows. */
export function useRevocation(serial: bigint) {
  const { client, queries } = useApi(directoryApiRef);
  return useMutation(
    {
      mutationFn: (reason: RevocationReason) =>
        client.post('/certs/{serial_number}/revocation/', {
          params: { path: { serial_number: serial } },
          body: { reason },
        }),
      onSuccess: () => queries.invalidateQueries({ queryKey: ['directory'] }),
      networkMode: 'always',
      gcTime: 0,
    },
    queries,
  );
}
