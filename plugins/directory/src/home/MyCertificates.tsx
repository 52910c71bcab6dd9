import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link } from '@backstage/ui';
import { useCurrentUser, useMay } from '../api/useDirectoryQuery';
import { CertificateRow } from '../certificates/CertificatesTab';
import { useCertificateName } from '../certificates/Facts';
import {
  certificateState,
  type ListedCertificate,
  orderByExpiry,
  useMyCertificates,
  validCertificates,
} from '../certificates/userCertificates';
import { formatTimeLeft, useNow } from '../components/DateTime';
import { Rows } from '../page/QueryPanel';
import { LoadingBlocks } from '../page/loading';
import {
  certificateRouteRef,
  certificatesRouteRef,
  requestCertificateRouteRef,
} from '../routes';
import { directoryTranslationRef } from '../translation';
import { HomeSection, Note } from './HomeSection';

/** Maximum number of certificates. */
const MAX_CERTIFICATES = 3;

/**
 * Time for which a revoked or expired certificate needs attention, in
 * milliseconds.
 */
const RECENT = 14 * 24 * 60 * 60 * 1000;

/**
 * The user's certificates that need attention, or the time until the next one
 * expires.
 */
export function MyCertificates() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const user = useCurrentUser();
  const now = useNow();
  return (
    <HomeSection
      title={t('home.certificates.title')}
      href={useRouteRef(certificatesRouteRef)?.() ?? '/'}
      linkText={t('home.certificates.all')}
      query={useMyCertificates(user.data)}
      skeleton={<LoadingBlocks heights={[56]} />}
      user={user}
      notMapped={t('home.certificates.notMapped')}
    >
      {certificates => {
        const urgent = orderByExpiry(certificates, now)
          .filter(one => needsAttention(one, now))
          .slice(0, MAX_CERTIFICATES);
        return urgent.length === 0 ? (
          <NothingUrgent certificates={certificates} now={now} />
        ) : (
          <>
            <Rows>
              {urgent.map(certificate => (
                <CertificateRow
                  key={certificate.sha256_fingerprint}
                  certificate={certificate}
                />
              ))}
            </Rows>
            {validCertificates(certificates, now).length === 0 && (
              <NothingUrgent certificates={certificates} now={now} />
            )}
          </>
        );
      }}
    </HomeSection>
  );
}

/** Whether a certificate expires soon, is on hold, or was recently revoked or expired. */
function needsAttention(certificate: ListedCertificate, now: Date): boolean {
  const { revoked_at, valid_not_after } = certificate;
  const isRecent = (time?: string | null) =>
    Boolean(time) && now.getTime() - Date.parse(time!) < RECENT;
  switch (certificateState(certificate, now)) {
    case 'expiring':
    case 'hold':
      return true;
    case 'revoked':
      return isRecent(revoked_at);
    case 'expired':
      return isRecent(valid_not_after);
    default:
      return false;
  }
}

function NothingUrgent(props: {
  certificates: readonly ListedCertificate[];
  now: Date;
}) {
  const { certificates, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const request = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  const certificate = useRouteRef(certificateRouteRef);
  const nameOf = useCertificateName();
  const mayRequest = useMay('directory.certificate.sign');
  const [next] = validCertificates(certificates, now);
  if (next) {
    const left = formatTimeLeft(new Date(next.valid_not_after), now);
    const serial = String(next.serial_number);
    return (
      <Note
        link={
          <Link href={certificate?.({ serial }) ?? ''} standalone>
            <bdi>{nameOf(next)}</bdi>
          </Link>
        }
      >
        {t('home.certificates.fine', { left })}
      </Note>
    );
  }
  return (
    <Note
      link={
        mayRequest && (
          <Link href={request} standalone>
            {t('certificates.request')}
          </Link>
        )
      }
    >
      {t('home.certificates.none')}
    </Note>
  );
}
