import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonLink } from '@backstage/ui';
import { RiAddLine, RiShieldKeyholeLine } from '@remixicon/react';
import { useMemo } from 'react';
import {
  useCertificateAuthority,
  useCurrentUser,
  useMay,
} from '../../api/useDirectoryQuery';
import { useNow } from '../../components/DateTime';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { EmptyState } from '../../page/states';
import { requestCertificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificateRows } from '../CertificatesTab';
import { CertificatesSkeleton, NoAuthority, NotMapped } from '../Facts';
import { OpenBySerial } from '../Serial';
import {
  type MyCertificate,
  orderByExpiry,
  useMyCertificates,
} from '../userCertificates';
import { CertificateActions } from './CertificateActions';
import styles from './CertificatesPage.module.css';
import { Timeline } from './Timeline';

/** `/directory/certificates`: the user's own certificates. */
export function CertificatesPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const request = useRouteRef(requestCertificateRouteRef)?.() ?? '/';
  const user = useCurrentUser();
  const mine = useMyCertificates(user.data);
  const mayRequest = useMay('directory.certificate.sign');
  const hasAuthority = useCertificateAuthority() !== null;
  // Users without certificates see the button instead of the list.
  const hasNone = mine.data?.length === 0;
  const isSettled = Boolean(mine.error ?? mine.data);

  return (
    <DirectoryPage
      area="certificates"
      actions={
        mayRequest &&
        isSettled &&
        !hasNone && (
          <ButtonLink
            variant="primary"
            href={request}
            iconStart={<RiAddLine />}
          >
            {t('certificates.request')}
          </ButtonLink>
        )
      }
    >
      <div className={styles.page}>
        <QueryPanel
          query={user}
          skeleton={<CertificatesSkeleton />}
          hidesStaleNotice
        >
          {username =>
            username === null ? (
              <NotMapped />
            ) : (
              <QueryPanel query={mine} skeleton={<CertificatesSkeleton />}>
                {certificates => (
                  <>
                    {!hasAuthority && <NoAuthority />}
                    {certificates.length > 0 && (
                      <Certificates certificates={certificates} />
                    )}
                    {hasAuthority && certificates.length === 0 && (
                      <EmptyState
                        icon={<RiShieldKeyholeLine />}
                        title={t('certificates.none.title')}
                        description={t('certificates.none.description')}
                        actions={
                          mayRequest && (
                            <ButtonLink variant="primary" href={request}>
                              {t('certificates.request')}
                            </ButtonLink>
                          )
                        }
                      />
                    )}
                  </>
                )}
              </QueryPanel>
            )
          }
        </QueryPanel>
        {hasAuthority && <OpenBySerial />}
      </div>
    </DirectoryPage>
  );
}

function Certificates({ certificates }: { certificates: MyCertificate[] }) {
  const now = useNow();
  const ordered = useMemo(
    () => orderByExpiry(certificates, now),
    [certificates, now],
  );
  return (
    <>
      <Timeline certificates={ordered} now={now} />
      <CertificateRows
        certificates={ordered}
        actionsOf={certificate => (
          <CertificateActions certificate={certificate} now={now} />
        )}
      />
    </>
  );
}
