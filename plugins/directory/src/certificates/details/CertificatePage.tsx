import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, ButtonLink, Flex } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCalendarEventLine,
  RiFileDownloadLine,
  RiLinksLine,
  RiShieldKeyholeLine,
} from '@remixicon/react';
import type { ReactNode } from 'react';
import { useParams } from 'react-router-dom';
import { DirectoryText } from '../../components/DirectoryText';
import { saveFile } from '../../components/saveFile';
import { DirectoryPage } from '../../page/DirectoryPage';
import { EmptyState, ErrorState, StaleNotice } from '../../page/states';
import { certificatesRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton } from '../Facts';
import { chainFile, pemFile } from '../pem';
import { useReminder } from '../reminder';
import { OpenBySerial, readSerial, shortenSerial } from '../Serial';
import { About, AlternativeNames, Usages } from './About';
import styles from './CertificatePage.module.css';
import { Chain, Fingerprints, Revocation } from './Chain';
import { RevokeButton } from './RevokeButton';
import { type CertificateDetails, useCertificate } from './useCertificate';

/** `/directory/certificates/{serial}`: one certificate. */
export function CertificatePage() {
  const { serial: text = '' } = useParams();
  const { t } = useTranslationRef(directoryTranslationRef);
  const serial = readSerial(text);
  const { data, error, dataUpdatedAt, refetch } = useCertificate(serial);
  const decimal = String(serial ?? text);
  const isGone = isDirectoryResponseError(error) && error.status === 404;

  return (
    <DirectoryPage
      room="certificates"
      subject={t('certificates.details.title', {
        serial: shortenSerial(decimal),
      })}
      actions={data && !isGone && <CertificateActionBar details={data} />}
    >
      {error && data && !isGone && (
        <StaleNotice error={error} loadedAt={dataUpdatedAt} onRetry={refetch} />
      )}
      {data && !isGone && <CertificateView details={data} />}
      {serial === undefined && (
        <NoCertificate
          title={t('certificates.details.notSerial.title', {
            text: <DirectoryText value={text} />,
          })}
          description={t('certificates.details.notSerial.description')}
        />
      )}
      {isGone && (
        <NoCertificate
          title={t('certificates.details.gone.title', { serial: decimal })}
          description={t('certificates.details.gone.description')}
        />
      )}
      {!data && error && !isGone && (
        <ErrorState error={error} onRetry={refetch} />
      )}
      {!data && !error && serial !== undefined && <CertificatesSkeleton />}
    </DirectoryPage>
  );
}

/** Explains why there is no certificate and links to others. */
function NoCertificate(props: { title: ReactNode; description: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  return (
    <>
      <EmptyState
        {...props}
        icon={<RiShieldKeyholeLine />}
        actions={
          <ButtonLink variant="primary" href={mine}>
            {t('certificates.details.mine')}
          </ButtonLink>
        }
      />
      <OpenBySerial />
    </>
  );
}

/** The contents of a certificate: the subject at the left, the issuer at the right. */
function CertificateView({ details }: { details: CertificateDetails }) {
  const { certificate, chain } = details;
  return (
    <>
      <Revocation certificate={certificate} />
      <div className={styles.certificate}>
        <div className={styles.column}>
          <About details={details} />
          <Fingerprints certificate={certificate} />
        </div>
        <div className={styles.column}>
          <Chain certificate={certificate} chain={chain} />
          <AlternativeNames certificate={certificate} />
          <Usages leaf={chain[0]} />
        </div>
      </div>
    </>
  );
}

/** Downloads and revocation of a certificate. */
function CertificateActionBar({
  details: { certificate },
}: {
  details: CertificateDetails;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const saveReminder = useReminder();
  const { certificate_chain: chain } = certificate;

  return (
    <Flex gap="2" style={{ flexWrap: 'wrap' }}>
      <RevokeButton certificate={certificate} />
      <Button
        variant="secondary"
        iconStart={<RiCalendarEventLine />}
        onPress={() => saveReminder(certificate)}
      >
        {t('certificates.details.reminder')}
      </Button>
      {chain && (
        <Button
          variant="secondary"
          iconStart={<RiLinksLine />}
          onPress={() => saveFile(chainFile(certificate, chain))}
        >
          {t('certificates.details.chainFile')}
        </Button>
      )}
      <Button
        iconStart={<RiFileDownloadLine />}
        onPress={() => saveFile(pemFile(certificate))}
      >
        {t('certificates.details.pem')}
      </Button>
    </Flex>
  );
}
