import type { ListedCertificate } from '../../certificates/userCertificates';

/**
 * How a certificate stands. `foreign`: no CA of the gateway has issued it;
 * `unchecked`: that is not known.
 */
export type CertificateState =
  | 'valid'
  | 'expiring'
  | 'expired'
  | 'revoked'
  | 'notYet'
  | 'foreign'
  | 'unchecked';

/** So long before its end a certificate counts as expiring, in milliseconds. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/** One that holds for a month only is not expiring from its first day on. */
const LAST_PART = 1 / 3;

/**
 * How a certificate stands at a moment; revocation outweighs dates. Of one that
 * no CA of the gateway has on record, dates and revocation say nothing.
 */
export function certificateState(
  certificate: Pick<
    ListedCertificate,
    'issued_here' | 'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
  now: Date,
): CertificateState {
  const { issued_here, revoked } = certificate;
  const { valid_not_before, valid_not_after } = certificate;
  if (!issued_here) {
    return issued_here === false ? 'foreign' : 'unchecked';
  }
  if (revoked) {
    return 'revoked';
  }
  const [start, end] = [valid_not_before, valid_not_after].map(Date.parse);
  const left = end - now.getTime();
  if (left < 0) {
    return 'expired';
  }
  if (start > now.getTime()) {
    return 'notYet';
  }
  const soon = Math.min(SOON, (end - start) * LAST_PART);
  return left < soon ? 'expiring' : 'valid';
}
