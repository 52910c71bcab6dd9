import { orderByEnd } from '../certificates/mine/orderByEnd';
import type { ListedCertificate } from '../certificates/userCertificates';
import { certificateState } from '../person/certificates/certificateState';

/** The certificates that hold at a moment, the one that ends first at the top. */
export function pickUsable(
  certificates: readonly ListedCertificate[],
  now: Date,
): ListedCertificate[] {
  return orderByEnd(certificates, now).filter(certificate =>
    ['valid', 'expiring'].includes(certificateState(certificate, now)),
  );
}
