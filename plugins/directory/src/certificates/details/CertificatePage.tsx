import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCalendarEventLine,
  RiFileDownloadLine,
  RiLinksLine,
} from '@remixicon/react';
import { useParams } from 'react-router-dom';
import { isNotFound } from '../../api/useDirectoryQuery';
import { DirectoryText } from '../../components/DirectoryText';
import { saveFile } from '../../components/saveFile';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { CertificatesSkeleton, NoCertificate } from '../Facts';
import { chainFile, pemFile } from '../pem';
import { useReminder } from '../reminder';
import { OpenBySerial, parseSerial, shortenSerial } from '../Serial';
import { About, AlternativeNames, Usages } from './About';
import styles from './CertificatePage.module.css';
import { Chain, Fingerprints, Revocation } from './Chain';
import { RevokeButton } from './RevokeButton';
import { type CertificateDetails, useCertificate } from './useCertificate';

/** `/directory/certificates/{serial}`: one certificate. */
export function CertificatePage() {
  const { serial: text = '' } = useParams();
  const { t } = useTranslationRef(directoryTranslationRef);
  const serial = parseSerial(text);
  const query = useCertificate(serial);
  const { data, error } = query;
  const decimal = String(serial ?? text);

  return (
    <DirectoryPage
      area="certificates"
      subject={t('certificate.title', { serial: shortenSerial(decimal) })}
      actions={
        data &&
        !isNotFound(error) && (
          <CertificateActionBar certificate={data.certificate} />
        )
      }
    >
      {serial === undefined ? (
        <>
          <NoCertificate
            title={t('certificate.notSerial.title', {
              text: <DirectoryText value={text} />,
            })}
            description={t('certificate.notSerial.description')}
          />
          <OpenBySerial />
        </>
      ) : (
        <QueryPanel
          query={query}
          skeleton={<CertificatesSkeleton />}
          notFound={
            <>
              <NoCertificate
                title={t('certificate.notFound.title', { serial: decimal })}
                description={t('certificate.notFound.description')}
              />
              <OpenBySerial />
            </>
          }
        >
          {details => <CertificateView details={details} />}
        </QueryPanel>
      )}
    </DirectoryPage>
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
function CertificateActionBar({ certificate }: { certificate: Certificate }) {
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
        {t('certificate.reminder')}
      </Button>
      {chain && (
        <Button
          variant="secondary"
          iconStart={<RiLinksLine />}
          onPress={() => saveFile(chainFile(certificate, chain))}
        >
          {t('certificate.chainPem')}
        </Button>
      )}
      <Button
        iconStart={<RiFileDownloadLine />}
        onPress={() => saveFile(pemFile(certificate))}
      >
        {t('certificate.pem')}
      </Button>
    </Flex>
  );
}
