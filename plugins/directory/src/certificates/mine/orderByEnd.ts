import { certificateState } from '../../person/certificates/certificateState';
import type { MyCertificate } from './useMyCertificates';

/**
 * What can be used, the one that ends first at the top; then what is revoked or
 * over, the latest first.
 */
export function orderByEnd<
  Certificate extends Pick<
    MyCertificate,
    'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
>(certificates: readonly Certificate[], now: Date): Certificate[] {
  const isGone = (one: Certificate) =>
    ['revoked', 'expired'].includes(certificateState(one, now));
  const endOf = (one: Certificate) => Date.parse(one.valid_not_after);
  const usable = certificates.filter(one => !isGone(one));
  const gone = certificates.filter(isGone);
  return [
    ...usable.sort((a, b) => endOf(a) - endOf(b)),
    ...gone.sort((a, b) => endOf(b) - endOf(a)),
  ];
}
