import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import { useState } from 'react';
import { useCertificateAuthority } from '../../api/useDirectoryQuery';
import { DateTime, formatTimeLeft, useNow } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { PersonLink } from '../../components/EntryLink';
import { Section } from '../../page/DirectoryPage';
import { directoryTranslationRef } from '../../translation';
import {
  CertificateBadge,
  CertificateHint,
  Facts,
  useCertificateName,
  useUsageText,
} from '../Facts';
import { LabelDialog } from '../LabelDialog';
import { Serial } from '../Serial';
import { certificateState, isValid } from '../userCertificates';
import type { ParsedCertificate } from './parseCertificate';
import { useIsOwner } from './RevokeButton';
import type { CertificateDetails } from './useCertificate';

/** State and validity, then purpose, label, subject and serial number. */
export function About({
  details: { certificate, chain },
}: {
  details: CertificateDetails;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const now = useNow();
  const canLabel = useIsOwner(certificate) && certificate.issued_here;
  const { extended_key_usage, owner_user: owners, label } = certificate;
  const purpose = useCertificateName()({ extended_key_usage, label: null });
  const expiry = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);
  const cannotRevoke = useCertificateAuthority()?.can_revoke === false;

  return (
    <Section isCard title={t('certificate.about')}>
      <Facts
        facts={[
          {
            name: t('certificate.state.title'),
            value: (
              <>
                <CertificateBadge state={state} />
                {(state === 'foreign' || state === 'unchecked') && (
                  <Text as="p" variant="body-small" color="secondary">
                    <CertificateHint certificate={certificate} state={state} />
                  </Text>
                )}
                {cannotRevoke && isValid(certificate, now) && (
                  <Text as="p" variant="body-small" color="secondary">
                    {t('certificate.noRevocation')}
                  </Text>
                )}
              </>
            ),
          },
          {
            name: t('certificate.expires'),
            value: (
              <>
                <DateTime value={expiry} />
                {state !== 'revoked' && state !== 'foreign' && (
                  <> ({formatTimeLeft(expiry, now)})</>
                )}
              </>
            ),
          },
          {
            name: t('certificate.from'),
            value: <DateTime value={new Date(certificate.valid_not_before)} />,
          },
          { name: t('certificate.purpose'), value: purpose },
          label || canLabel
            ? {
                name: t('certificate.label.name'),
                value: canLabel ? (
                  <EditableLabel certificate={certificate} />
                ) : (
                  label
                ),
              }
            : undefined,
          {
            name: t('certificate.subject'),
            value: certificate.subject,
          },
          owners?.length
            ? {
                name: t('certificate.owner'),
                value: (
                  <ul>
                    {owners.map(username => (
                      <li key={username}>
                        <PersonLink username={username} standalone={false} />
                      </li>
                    ))}
                  </ul>
                ),
              }
            : undefined,
          {
            name: t('certificate.serial'),
            value: (
              <Serial
                serial={certificate.serial_number}
                hex={certificate.serial_number_hex}
                isWhole
              />
            ),
          },
          {
            name: t('certificate.hexadecimal'),
            value: <code>{certificate.serial_number_hex}</code>,
          },
          { name: t('certificate.key'), value: chain[0].key },
        ]}
      />
    </Section>
  );
}

function EditableLabel({ certificate }: { certificate: Certificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [isOpen, setOpen] = useState(false);
  const { label } = certificate;
  return (
    <>
      {label && <DirectoryText value={label} />}{' '}
      <Button size="small" variant="tertiary" onPress={() => setOpen(true)}>
        {t(label ? 'certificate.label.change' : 'certificate.label.set')}
      </Button>
      {isOpen && (
        <LabelDialog certificate={certificate} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

/** Message keys by kind of alternative name; kinds for users come first. */
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

/** The subject alternative names by kind. */
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
            name: t(`certificate.name.${kind}`),
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
    <Section isCard title={t('certificate.names')}>
      {facts.length > 0 ? (
        <Facts facts={facts} />
      ) : (
        <Text as="p" color="secondary">
          {t('certificate.noNames')}
        </Text>
      )}
    </Section>
  );
}

/** Extended key usages and key usages, in words. */
export function Usages(props: {
  certificate: Certificate;
  leaf: ParsedCertificate;
}) {
  const { certificate, leaf } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const textOf = useUsageText();
  const listOf = (usages: readonly string[]) =>
    usages.join(', ') || t('certificate.anyUsage');
  return (
    <Section isCard title={t('certificate.usage')}>
      <Facts
        facts={[
          {
            name: t('certificate.purpose'),
            value: listOf((certificate.extended_key_usage ?? []).map(textOf)),
          },
          {
            name: t('certificate.keyUsage'),
            value: listOf(
              leaf.keyUsage.map(name => t(`certificate.keyUsages.${name}`)),
            ),
          },
        ]}
      />
    </Section>
  );
}
