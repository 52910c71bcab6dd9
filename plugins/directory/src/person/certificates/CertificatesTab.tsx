import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { RiShieldKeyholeLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { EmptyState } from '../../states';
import { directoryTranslationRef } from '../../translation';
import { QueryPanel } from '../QueryPanel';
import { Rows } from '../rows';
import { CertificateRow } from './CertificateRow';
import type { ListedCertificate } from './useCertificates';

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
