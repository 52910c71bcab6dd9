import { orderByEnd } from '../certificates/mine/orderByEnd';
import { certificateState } from '../person/certificates/certificateState';
import type { ListedCertificate } from '../person/certificates/useCertificates';

/** The certificates that hold at a moment, the one that ends first at the top. */
export function pickUsable(
  certificates: readonly ListedCertificate[],
  now: Date,
): ListedCertificate[] {
  return orderByEnd(certificates, now).filter(certificate =>
    ['valid', 'expiring'].includes(certificateState(certificate, now)),
  );
}
