import { useTranslationRef } from '@backstage/frontend-plugin-api';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { Section } from '../../page/DirectoryPage';
import { directoryTranslationRef } from '../../translation';
import { Instructions, OWN_KEY } from '../Instructions';
import { pemFile } from '../pem';

/** Directory of the scripts, as in the documentation of unattended renewal. */
const SCRIPTS = '/usr/local/libexec/directory-gateway';

/** Commands that renew the user's certificate outside the portal. */
export function RenewAutomatically({
  certificate,
}: {
  certificate: Certificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { uri, owner_user: owners } = certificate;
  const [portal] = uri.split('/api/directory/');
  const file = pemFile(certificate).name;
  const commands = {
    script: [
      `${SCRIPTS}/directory-renew-certificate --url=${portal} --cert=${file} --key=${OWN_KEY}`,
    ],
    certmonger: [
      `getcert add-ca -c directory -e '${SCRIPTS}/directory-certmonger --url=${portal} --key=/etc/pki/${OWN_KEY}'`,
      `getcert start-tracking -c directory -f /etc/pki/${file} -k /etc/pki/${OWN_KEY}`,
    ],
    curl: [
      `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj '/CN=${owners?.[0]}' -keyout new.key -out new.csr`,
      `curl --negotiate -u : --data-urlencode csr@new.csr ${uri}renewal/ | jq -r .result.certificate >new.pem`,
    ],
  };
  return (
    <Section
      isCard
      title={t('certificate.automatic.title')}
      note={t('certificate.automatic.note')}
    >
      <Instructions
        items={(['script', 'certmonger', 'curl'] as const).map(tool => ({
          title: t(`certificate.automatic.${tool}`),
          hint: t(`certificate.automatic.${tool}Hint`),
          commands: commands[tool],
        }))}
      />
    </Section>
  );
}
