import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useParams } from 'react-router-dom';
import { isNotFound } from '../../api/useDirectoryQuery';
import { DirectoryText } from '../../components/DirectoryText';
import { DirectoryPage } from '../../page/DirectoryPage';
import { QueryPanel } from '../../page/QueryPanel';
import { directoryTranslationRef } from '../../translation';
import { useDownloads } from '../downloads';
import { CertificatesSkeleton, NoCertificate } from '../Facts';
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

function CertificateActionBar({ certificate }: { certificate: Certificate }) {
  return (
    <Flex gap="2" style={{ flexWrap: 'wrap' }}>
      <RevokeButton certificate={certificate} />
      {useDownloads(certificate).map(({ label, icon, save }) => (
        <Button key={label} variant="secondary" iconStart={icon} onPress={save}>
          {label}
        </Button>
      ))}
    </Flex>
  );
}
