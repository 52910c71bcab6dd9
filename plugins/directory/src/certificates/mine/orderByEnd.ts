import { certificateState } from '../../person/certificates/certificateState';
import type { MyCertificate } from './useMyCertificates';

/**
 * Sorts certificates: those that can be used, the next to expire first; then
 * those that are revoked, expired or not issued here, the last to expire first.
 */
export function orderByEnd<
  Certificate extends Pick<
    MyCertificate,
    'issued_here' | 'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
>(certificates: readonly Certificate[], now: Date): Certificate[] {
  const isGone = (one: Certificate) =>
    ['revoked', 'expired', 'foreign'].includes(certificateState(one, now));
  const endOf = (one: Certificate) => Date.parse(one.valid_not_after);
  const usable = certificates.filter(one => !isGone(one));
  const gone = certificates.filter(isGone);
  return [
    ...usable.sort((a, b) => endOf(a) - endOf(b)),
    ...gone.sort((a, b) => endOf(b) - endOf(a)),
  ];
}
