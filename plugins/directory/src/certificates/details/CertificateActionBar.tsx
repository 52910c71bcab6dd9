import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex } from '@backstage/ui';
import {
  RiCalendarEventLine,
  RiFileDownloadLine,
  RiLinksLine,
} from '@remixicon/react';
import { saveFile } from '../../components/saveFile';
import { directoryTranslationRef } from '../../translation';
import { chainFile, pemFile } from '../pem';
import { useReminder } from '../reminder';
import { RevokeButton } from './RevokeButton';
import type { CertificateDetails } from './useCertificate';

/** What can be taken along from a certificate's page. */
export function CertificateActionBar({
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
