import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { DateTime, formatLeft, useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { personRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { CertificateBadge, CertificateHint, Facts, Part } from '../Facts';
import { Serial } from '../Serial';
import { certificateState } from '../userCertificates';
import type { ReadCertificate } from './readCertificate';
import type { CertificateDetails } from './useCertificate';

/** Subject, serial number, state and validity. */
export function About({
  details: { certificate, chain },
}: {
  details: CertificateDetails;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();
  const end = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);

  return (
    <Part title={t('certificates.details.about')}>
      <Facts
        facts={[
          {
            name: t('certificates.details.state'),
            value: (
              <>
                <CertificateBadge state={state} />
                <CertificateHint state={state} />
              </>
            ),
          },
          {
            name: t('certificates.details.subject'),
            value: certificate.subject,
          },
          ...(certificate.owner_user?.length
            ? [
                {
                  name: t('certificates.details.owner'),
                  value: <Owners usernames={certificate.owner_user} />,
                },
              ]
            : []),
          {
            name: t('certificates.details.serial'),
            value: (
              <Serial
                serial={certificate.serial_number}
                hex={certificate.serial_number_hex}
                isWhole
              />
            ),
          },
          {
            name: t('certificates.details.hexadecimal'),
            value: <code>{certificate.serial_number_hex}</code>,
          },
          {
            name: t('certificates.details.from'),
            value: <DateTime value={new Date(certificate.valid_not_before)} />,
          },
          {
            name: t('certificates.details.to'),
            value: (
              <>
                <DateTime value={end} />
                {state !== 'revoked' && state !== 'foreign' && (
                  <> ({formatLeft(end, now)})</>
                )}
              </>
            ),
          },
          { name: t('certificates.details.key'), value: chain[0].key },
        ]}
      />
    </Part>
  );
}

function Owners({ usernames }: { usernames: readonly string[] }) {
  const href = useRouteRef(personRouteRef);
  return (
    <ul>
      {usernames.map(username => (
        <li key={username}>
          <Link href={href?.({ username }) ?? ''}>
            <DirectoryText value={username} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Kinds of alternative names and their message keys, those of users first. */
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

/** The subject alternative names, by kind. */
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

/** Key usage and extended key usage. */
export function Usages({ leaf }: { leaf: ReadCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const words = (usages: readonly string[]) =>
    usages.join(', ') || t('certificates.details.anyUsage');
  return (
    <Part title={t('certificates.details.usages')}>
      <Facts
        facts={[
          {
            name: t('certificates.details.keyUsage'),
            value: words(leaf.keyUsage),
          },
          {
            name: t('certificates.details.extendedKeyUsage'),
            value: words(leaf.extendedKeyUsage),
          },
        ]}
      />
    </Part>
  );
}
