import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { RiFileDownloadLine, RiLinksLine } from '@remixicon/react';
import { saveFile } from '../components/saveFile';
import { directoryTranslationRef } from '../translation';
import { chainFile, pemFile } from './pem';
import type { MyCertificate } from './userCertificates';

/** Returns the downloads of a certificate, with the chain if it is known. */
export function useDownloads(
  certificate: Omit<MyCertificate, 'sha256_fingerprint'>,
) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return [
    ...(certificate.certificate_chain
      ? [
          {
            label: t('certificates.chainPem'),
            icon: <RiLinksLine />,
            save: () => saveFile(chainFile(certificate)),
          },
        ]
      : []),
    {
      label: t('certificates.pem'),
      icon: <RiFileDownloadLine />,
      save: () => saveFile(pemFile(certificate)),
    },
  ];
}
