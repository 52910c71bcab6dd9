import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  ButtonIcon,
  Cell,
  type ColumnConfig,
  Link,
  Menu,
  MenuItem,
  MenuTrigger,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import {
  RiFileTextLine,
  RiMore2Line,
  RiPriceTag3Line,
  RiRefreshLine,
} from '@remixicon/react';
import { useMemo, useState } from 'react';
import { useMay } from '../../api/useDirectoryQuery';
import { DirectoryText } from '../../components/DirectoryText';
import { LinkTable } from '../../page/DirectoryPage';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { useDownloads } from '../downloads';
import { IssueDate, useCertificateName, Validity } from '../Facts';
import { LabelDialog } from '../LabelDialog';
import { useRenewHref } from '../reminder';
import { Serial } from '../Serial';
import {
  certificateState,
  haveSameIssuer,
  isValid,
  type MyCertificate,
} from '../userCertificates';
import styles from './CertificatesTable.module.css';

type Row = MyCertificate & { id: string };

/** Table of certificates; a narrow screen has two columns. */
export function CertificatesTable(props: {
  certificates: readonly MyCertificate[];
  now: Date;
}) {
  const { certificates, now } = props;
  const href = useRouteRef(certificateRouteRef);
  // Outside of the table, which would handle the keys that are typed.
  const [labeled, setLabeled] = useState<MyCertificate>();
  const columns = useColumns({
    now,
    showsIssuer: !haveSameIssuer(certificates),
    onLabel: setLabeled,
  });
  return (
    <>
      <LinkTable
        columns={columns}
        items={certificates}
        idOf={idOf}
        hrefOf={({ serial_number }) =>
          href?.({ serial: String(serial_number) })
        }
      />
      {labeled && (
        <LabelDialog
          certificate={labeled}
          onClose={() => setLabeled(undefined)}
        />
      )}
    </>
  );
}

function idOf({ sha256_fingerprint }: MyCertificate) {
  return sha256_fingerprint;
}

function useColumns(options: {
  now: Date;
  showsIssuer: boolean;
  onLabel: (certificate: MyCertificate) => void;
}): ColumnConfig<Row>[] {
  const { now, showsIssuer, onLabel } = options;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');

  return useMemo(
    () => [
      {
        id: 'purpose',
        label: t('certificate.purpose'),
        isRowHeader: true,
        defaultWidth: '3fr',
        cell: certificate => (
          <Cell className={styles.text}>
            <Name certificate={certificate} />
            <IssueDate certificate={certificate} />
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
        isHidden: !isWide || !showsIssuer,
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
            <CertificateActions
              certificate={certificate}
              now={now}
              onLabel={() => onLabel(certificate)}
            />
          </Cell>
        ),
      },
    ],
    [isWide, now, showsIssuer, onLabel, t],
  );
}

function SerialOf({ certificate }: { certificate: MyCertificate }) {
  const { serial_number, serial_number_hex } = certificate;
  return <Serial serial={serial_number} hex={serial_number_hex} />;
}

function Name({ certificate }: { certificate: MyCertificate }) {
  return (
    <Text as="p" weight="bold">
      <bdi>{useCertificateName()(certificate)}</bdi>
    </Text>
  );
}

/** The state; for certificates that expire soon, with a link that renews them. */
function Expiry(props: { certificate: MyCertificate; now: Date }) {
  const { certificate, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const renewHref = useRenewHref();
  const mayRenew = useMay('directory.certificate.sign');
  return (
    <div className={styles.expiry}>
      <Validity certificate={certificate} now={now} />
      {mayRenew && certificateState(certificate, now) === 'expiring' && (
        <Link href={renewHref(certificate)} standalone>
          {t('certificate.renew')}
        </Link>
      )}
    </div>
  );
}

function CertificateActions(props: {
  certificate: MyCertificate;
  now: Date;
  onLabel: () => void;
}) {
  const { certificate, now, onLabel } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const renewHref = useRenewHref();
  const maySign = useMay('directory.certificate.sign');
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
        {maySign && isValid(certificate, now) && (
          <MenuItem href={renewHref(certificate)} iconStart={<RiRefreshLine />}>
            {t('certificate.renew')}
          </MenuItem>
        )}
        {maySign && certificate.issued_here && (
          <MenuItem iconStart={<RiPriceTag3Line />} onAction={onLabel}>
            {t(
              certificate.label
                ? 'certificate.label.change'
                : 'certificate.label.set',
            )}
          </MenuItem>
        )}
        {useDownloads(certificate).map(({ label, icon, save }) => (
          <MenuItem key={label} iconStart={icon} onAction={save}>
            {label}
          </MenuItem>
        ))}
      </Menu>
    </MenuTrigger>
  );
}
