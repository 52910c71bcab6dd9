import type { ListedCertificate } from './useCertificates';

/** How a certificate stands. */
export type CertificateState =
  | 'valid'
  | 'expiring'
  | 'expired'
  | 'revoked'
  | 'notYet';

/** So long before its end a certificate counts as expiring, in milliseconds. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/** How a certificate stands at a moment; revocation outweighs dates. */
export function certificateState(
  certificate: Pick<
    ListedCertificate,
    'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
  now: Date,
): CertificateState {
  const { revoked, valid_not_before, valid_not_after } = certificate;
  if (revoked) {
    return 'revoked';
  }
  const left = Date.parse(valid_not_after) - now.getTime();
  if (left < 0) {
    return 'expired';
  }
  if (Date.parse(valid_not_before) > now.getTime()) {
    return 'notYet';
  }
  return left < SOON ? 'expiring' : 'valid';
}
