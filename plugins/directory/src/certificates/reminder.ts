import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { saveFile } from '../components/saveFile';
import { requestCertificateRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { reminderFile } from './download/reminderFile';

/** Saves a calendar's reminder of a certificate's end. */
export function useReminder() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const path = useRouteRef(requestCertificateRouteRef)?.() ?? '/';

  return (
    certificate: Pick<
      Certificate,
      'serial_number' | 'subject' | 'valid_not_after'
    >,
  ) =>
    saveFile(
      reminderFile(certificate, {
        title: t('certificates.reminder.title', {
          subject: certificate.subject,
        }),
        description: t('certificates.reminder.description', {
          serial: String(certificate.serial_number),
        }),
        renewUrl: new URL(path, window.location.origin).href,
      }),
    );
}
