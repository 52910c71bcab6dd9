import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  RiCalendarEventLine,
  RiFileDownloadLine,
  RiLinksLine,
} from '@remixicon/react';
import { useNow } from '../components/DateTime';
import { saveFile } from '../components/saveFile';
import { directoryTranslationRef } from '../translation';
import { chainFile, pemFile } from './pem';
import { useReminder } from './reminder';
import { isValid, type MyCertificate } from './userCertificates';

/**
 * Returns the downloads of a certificate: a reminder while it is valid, and the
 * chain if it is known.
 */
export function useDownloads(
  certificate: Omit<MyCertificate, 'sha256_fingerprint'>,
) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const saveReminder = useReminder();
  const { certificate_chain: chain } = certificate;
  return [
    ...(isValid(certificate, useNow())
      ? [
          {
            label: t('certificates.reminder'),
            icon: <RiCalendarEventLine />,
            save: () => saveReminder(certificate),
          },
        ]
      : []),
    ...(chain
      ? [
          {
            label: t('certificates.chainPem'),
            icon: <RiLinksLine />,
            save: () => saveFile(chainFile(certificate, chain)),
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
