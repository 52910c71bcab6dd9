import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  ButtonIcon,
  ButtonLink,
  Menu,
  MenuItem,
  MenuTrigger,
} from '@backstage/ui';
import {
  RiFileTextLine,
  RiForbidLine,
  RiMore2Line,
  RiPriceTag3Line,
  RiRefreshLine,
} from '@remixicon/react';
import { useState } from 'react';
import { useMay } from '../../api/useDirectoryQuery';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { useDownloads } from '../downloads';
import { RevokeDialog, useCanRevoke } from '../details/RevokeButton';
import { useCertificateName } from '../Facts';
import { LabelDialog } from '../LabelDialog';
import { shortenSerial } from '../Serial';
import { useRenewHref } from '../useRenewHref';
import { certificateState, type MyCertificate } from '../userCertificates';

/**
 * Actions for one of the user's certificates. "Renew" is also a button when
 * renewal is due.
 */
export function CertificateActions(props: {
  certificate: MyCertificate;
  now: Date;
}) {
  const { certificate, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const renewHref = useRenewHref()(certificate);
  const maySign = useMay('directory.certificate.sign');
  const canRevoke = useCanRevoke(certificate);
  const nameOf = useCertificateName();
  const [isLabeling, setLabeling] = useState(false);
  const [isRevoking, setRevoking] = useState(false);
  const { serial_number, issued_here, label: ownLabel } = certificate;
  const serial = String(serial_number);
  const state = certificateState(certificate, now);

  return (
    <>
      {maySign && state === 'expiring' && (
        <ButtonLink href={renewHref} size="small" variant="secondary">
          {t('certificate.renew')}
        </ButtonLink>
      )}
      <MenuTrigger>
        <ButtonIcon
          aria-label={t('certificates.actionsOf', {
            name: nameOf(certificate),
            serial: shortenSerial(serial),
          })}
          icon={<RiMore2Line />}
          size="small"
          variant="tertiary"
        />
        <Menu placement="bottom end">
          <MenuItem href={href?.({ serial })} iconStart={<RiFileTextLine />}>
            {t('certificates.details')}
          </MenuItem>
          {maySign && state === 'valid' && (
            <MenuItem href={renewHref} iconStart={<RiRefreshLine />}>
              {t('certificate.renew')}
            </MenuItem>
          )}
          {maySign && issued_here && (
            <MenuItem
              iconStart={<RiPriceTag3Line />}
              onAction={() => setLabeling(true)}
            >
              {t(`certificate.label.${ownLabel ? 'change' : 'set'}`)}
            </MenuItem>
          )}
          {canRevoke && (
            <MenuItem
              iconStart={<RiForbidLine />}
              onAction={() => setRevoking(true)}
            >
              {t('certificate.revoke.button')}
            </MenuItem>
          )}
          {useDownloads(certificate).map(({ label, icon, save }) => (
            <MenuItem key={label} iconStart={icon} onAction={save}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </MenuTrigger>
      {isRevoking && (
        <RevokeDialog
          certificate={certificate}
          onClose={() => setRevoking(false)}
        />
      )}
      {isLabeling && (
        <LabelDialog
          certificate={certificate}
          onClose={() => setLabeling(false)}
        />
      )}
    </>
  );
}
