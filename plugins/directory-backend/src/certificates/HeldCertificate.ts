import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * A certificate, with what is known of it: of one that the directory alone
 * holds, no authority tells anything.
 */
export type HeldCertificate = Pick<IssuedCertificate, 'certificate'> &
  Partial<IssuedCertificate>;
