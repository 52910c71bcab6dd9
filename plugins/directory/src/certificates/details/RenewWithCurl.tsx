import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { Section } from '../../page/DirectoryPage';
import { directoryTranslationRef } from '../../translation';
import { Instructions } from '../Instructions';

/** Commands that renew the user's certificate outside the portal. */
export function RenewWithCurl({
  certificate: { uri, owner_user: owners },
}: {
  certificate: Certificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Section isCard title={t('certificate.commandLine.title')}>
      <Instructions
        items={[
          {
            title: t('certificate.commandLine.curl'),
            hint: t('certificate.commandLine.curlHint'),
            commands: [
              `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj '/CN=${owners?.[0]}' -keyout new.key -out new.csr`,
              `curl --negotiate -u : --data-urlencode csr@new.csr ${uri}renewal/ | jq -r .result.certificate >new.pem`,
            ],
          },
        ]}
      />
    </Section>
  );
}
