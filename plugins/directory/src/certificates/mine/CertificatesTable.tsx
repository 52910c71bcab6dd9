import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  ButtonIcon,
  Cell,
  type ColumnConfig,
  Menu,
  MenuItem,
  MenuTrigger,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import { RiFileTextLine, RiMore2Line } from '@remixicon/react';
import { useMemo } from 'react';
import { DateTime, formatTimeLeft } from '../../components/DateTime';
import { DirectoryText } from '../../components/DirectoryText';
import { LinkTable } from '../../page/DirectoryPage';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { useDownloads } from '../downloads';
import { CertificateBadge, CertificateHint } from '../Facts';
import { Serial } from '../Serial';
import { certificateState, type MyCertificate } from '../userCertificates';
import styles from './CertificatesTable.module.css';

type Row = MyCertificate & { id: string };

/** Table of certificates; a narrow screen has two columns. */
export function CertificatesTable(props: {
  certificates: readonly MyCertificate[];
  now: Date;
}) {
  const { certificates, now } = props;
  const href = useRouteRef(certificateRouteRef);
  const columns = useColumns(now);
  return (
    <LinkTable
      columns={columns}
      items={certificates}
      idOf={idOf}
      hrefOf={({ serial_number }) => href?.({ serial: String(serial_number) })}
    />
  );
}

function idOf({ sha256_fingerprint }: MyCertificate) {
  return sha256_fingerprint;
}

function useColumns(now: Date): ColumnConfig<Row>[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');

  return useMemo(
    () => [
      {
        id: 'subject',
        label: t('certificate.subject'),
        isRowHeader: true,
        defaultWidth: '3fr',
        cell: certificate => (
          <Cell className={styles.text}>
            <Text as="p" weight="bold">
              <DirectoryText value={certificate.subject} />
            </Text>
            {!isWide && (
              <>
                <SerialOf certificate={certificate} />
                <Expiry certificate={certificate} now={now} />
              </>
            )}
          </Cell>
        ),
      },
      {
        id: 'serial',
        label: t('certificate.serial'),
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
        label: t('certificate.issuer'),
        isHidden: !isWide,
        defaultWidth: '3fr',
        cell: ({ issuer }) => (
          <Cell className={styles.text}>
            <Text as="p" color="secondary">
              <DirectoryText value={issuer} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'expiry',
        label: t('certificate.expires'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        minWidth: 168,
        cell: certificate => (
          <Cell>
            <Expiry certificate={certificate} now={now} />
          </Cell>
        ),
      },
      {
        id: 'actions',
        label: t('certificates.actions'),
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

function Expiry(props: { certificate: MyCertificate; now: Date }) {
  const { certificate, now } = props;
  const expiry = new Date(certificate.valid_not_after);
  const state = certificateState(certificate, now);
  return (
    <div className={styles.expiry}>
      <CertificateBadge state={state} />
      <Text as="p" variant="body-small" color="secondary">
        {state !== 'revoked' && state !== 'foreign' && (
          <>{formatTimeLeft(expiry, now)} · </>
        )}
        <DateTime value={expiry} />
      </Text>
      <CertificateHint state={state} />
    </div>
  );
}

function CertificateActions({ certificate }: { certificate: MyCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const serial = String(certificate.serial_number);

  return (
    <MenuTrigger>
      <ButtonIcon
        aria-label={t('certificates.actionsOf', { serial })}
        icon={<RiMore2Line />}
        size="small"
        variant="tertiary"
      />
      <Menu placement="bottom end">
        <MenuItem href={href?.({ serial })} iconStart={<RiFileTextLine />}>
          {t('certificates.details')}
        </MenuItem>
        {useDownloads(certificate).map(({ label, icon, save }) => (
          <MenuItem key={label} iconStart={icon} onAction={save}>
            {label}
          </MenuItem>
        ))}
      </Menu>
    </MenuTrigger>
  );
}
