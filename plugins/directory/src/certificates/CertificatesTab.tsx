import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { QueryPanel, Rows } from '../page/QueryPanel';
import { EmptyState } from '../page/states';
import { CertificateRow } from '../person/certificates/CertificateRow';
import { directoryTranslationRef } from '../translation';
import type { ListedCertificate } from './userCertificates';

/** Somebody's certificates, the newest first. */
export function CertificatesTab({
  query,
}: {
  query: UseQueryResult<ListedCertificate[]>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel query={query}>
      {certificates =>
        certificates.length === 0 ? (
          <EmptyState
            icon={<RiShieldKeyholeLine />}
            title={t('person.certificates.none')}
          />
        ) : (
          <Rows>
            {certificates.map(certificate => (
              <CertificateRow
                key={`${certificate.issuer} ${certificate.serial_number}`}
                certificate={certificate}
              />
            ))}
          </Rows>
        )
      }
    </QueryPanel>
  );
}
