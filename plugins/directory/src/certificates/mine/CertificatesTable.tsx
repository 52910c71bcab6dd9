import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Cell,
  type ColumnConfig,
  Table,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import { useMemo } from 'react';
import { DateTime, formatLeft } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { TableGround } from '../../page/DirectoryPage';
import {
  CertificateBadge,
  CertificateHint,
} from '../../person/certificates/CertificateBadge';
import { certificateState } from '../../person/certificates/certificateState';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { Serial } from '../Serial';
import { CertificateActions } from './CertificateActions';
import styles from './CertificatesTable.module.css';
import type { MyCertificate } from './useMyCertificates';

type Row = MyCertificate & { id: string };

/** Options of {@link CertificatesTable}. */
export interface CertificatesTableProps {
  certificates: readonly MyCertificate[];
  now: Date;
}

/** Certificates as rows that lead to them; a narrow screen has two columns. */
export function CertificatesTable(props: CertificatesTableProps) {
  const { certificates, now } = props;
  const href = useRouteRef(certificateRouteRef);
  const columns = useColumns(now);
  const rows = useMemo(
    () => certificates.map(one => ({ ...one, id: one.sha256_fingerprint })),
    [certificates],
  );
  return (
    <TableGround>
      <Table
        columnConfig={columns}
        data={rows}
        pagination={{ type: 'none' }}
        rowConfig={{
          getHref: ({ serial_number }) =>
            href?.({ serial: String(serial_number) }),
        }}
      />
    </TableGround>
  );
}

function useColumns(now: Date): ColumnConfig<Row>[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');

  return useMemo(
    () => [
      {
        id: 'subject',
        label: t('certificates.column.subject'),
        isRowHeader: true,
        defaultWidth: '3fr',
        cell: certificate => (
          <Cell className={styles.words}>
            <Text as="p" weight="bold">
              <DirectoryText value={certificate.subject} />
            </Text>
            {!isWide && (
              <>
                <SerialOf certificate={certificate} />
                <Ends certificate={certificate} now={now} />
              </>
            )}
          </Cell>
        ),
      },
      {
        id: 'serial',
        label: t('certificates.column.serial'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        minWidth: 208,
        cell: certificate => (
          <Cell>
            <SerialOf certificate={certificate} />
          </Cell>
        ),
      },
      {
        id: 'issuer',
        label: t('certificates.column.issuer'),
        isHidden: !isWide,
        defaultWidth: '3fr',
        cell: ({ issuer }) => (
          <Cell className={styles.words}>
            <Text as="p" color="secondary">
              <DirectoryText value={issuer} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'ends',
        label: t('certificates.column.ends'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        minWidth: 168,
        cell: certificate => (
          <Cell>
            <Ends certificate={certificate} now={now} />
          </Cell>
        ),
      },
      {
        id: 'actions',
        label: t('certificates.column.actions'),
        width: 88,
        cell: certificate => (
          <Cell>
            <CertificateActions certificate={certificate} />
          </Cell>
        ),
      },
    ],
    [isWide, now, t],
  );
}

function SerialOf({ certificate }: { certificate: MyCertificate }) {
  const { serial_number, serial_number_hex } = certificate;
  return <Serial serial={serial_number} hex={serial_number_hex} />;
}

/** How it stands, and when it ends: of what is revoked, when it would have. */
function Ends(props: { certificate: MyCertificate; now: Date }) {
  const { certificate, now } = props;
  const end = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);
  return (
    <div className={styles.ends}>
      <CertificateBadge state={state} />
      <Text as="p" variant="body-small" color="secondary">
        {state !== 'revoked' && state !== 'foreign' && (
          <>{formatLeft(end, now)} · </>
        )}
        <DateTime value={end} />
      </Text>
      <CertificateHint state={state} />
    </div>
  );
}
