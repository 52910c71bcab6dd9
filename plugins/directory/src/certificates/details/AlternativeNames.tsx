import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { DirectoryText } from '../../components/DirectoryText';
import { directoryTranslationRef } from '../../translation';
import { Facts } from '../Facts';
import { Part } from './Part';

/** Kinds of alternative names and the words for them, those of people first. */
const KINDS = [
  ['san_rfc822name', 'email'],
  ['san_other_upn', 'userPrincipal'],
  ['san_other_kpn', 'kerberosPrincipal'],
  ['san_dnsname', 'host'],
  ['san_ipaddress', 'ipAddress'],
  ['san_uri', 'uri'],
  ['san_directoryname', 'directoryName'],
  ['san_oid', 'registeredId'],
  ['san_other', 'unusual'],
] as const;

/** For what other names it is valid, by kind. */
export function AlternativeNames({
  certificate,
}: {
  certificate: Certificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const facts = KINDS.flatMap(([field, kind]) => {
    const names = certificate[field];
    return names?.length
      ? [
          {
            name: t(`certificates.details.name.${kind}`),
            value: (
              <ul>
                {names.map(name => (
                  <li key={name}>
                    <DirectoryText value={name} />
                  </li>
                ))}
              </ul>
            ),
          },
        ]
      : [];
  });
  return (
    <Part title={t('certificates.details.names')}>
      {facts.length > 0 ? (
        <Facts facts={facts} />
      ) : (
        <Text as="p" color="secondary">
          {t('certificates.details.noNames')}
        </Text>
      )}
    </Part>
  );
}
