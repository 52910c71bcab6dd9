import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { DateTime } from '../../components/DateTime';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { Serial } from '../Serial';

/** What was issued: for whom, its number, and until when. */
export function IssuedFacts({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Facts
      facts={[
        {
          name: t('certificates.details.subject'),
          value: certificate.subject,
        },
        {
          name: t('certificates.newOne.done.serial'),
          value: (
            <Serial
              serial={certificate.serial_number}
              hex={certificate.serial_number_hex}
              isWhole
            />
          ),
        },
        {
          name: t('certificates.newOne.done.ends'),
          value: <DateTime value={new Date(certificate.valid_not_after)} />,
        },
      ]}
    />
  );
}
