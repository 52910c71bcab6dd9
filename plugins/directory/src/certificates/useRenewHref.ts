import { useRouteRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { requestCertificateRouteRef } from '../routes';

/**
 * Returns a function that returns the path of the renewal page of a
 * certificate.
 */
export function useRenewHref() {
  const path = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  return ({ serial_number }: Pick<Certificate, 'serial_number'>) =>
    `${path}?renew=${serial_number}`;
}
