import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { ButtonIcon, Menu, MenuItem, MenuTrigger } from '@backstage/ui';
import {
  RiCalendarEventLine,
  RiFileDownloadLine,
  RiFileTextLine,
  RiLinksLine,
  RiMore2Line,
} from '@remixicon/react';
import { saveFile } from '../../components/saveFile';
import { certificateRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import { chainFile, pemFile } from '../pem';
import { useReminder } from '../reminder';
import type { MyCertificate } from './useMyCertificates';

/** What can be done with a certificate, in a menu. */
export function CertificateActions({
  certificate,
}: {
  certificate: MyCertificate;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(certificateRouteRef);
  const saveReminder = useReminder();
  const serial = String(certificate.serial_number);
  const { certificate_chain: chain } = certificate;

  return (
    <MenuTrigger>
      <ButtonIcon
        aria-label={t('certificates.actions.label', { serial })}
        icon={<RiMore2Line />}
        size="small"
        variant="tertiary"
      />
      <Menu placement="bottom end">
        <MenuItem href={href?.({ serial })} iconStart={<RiFileTextLine />}>
          {t('certificates.actions.details')}
        </MenuItem>
        <MenuItem
          iconStart={<RiFileDownloadLine />}
          onAction={() => saveFile(pemFile(certificate))}
        >
          {t('certificates.actions.pem')}
        </MenuItem>
        {chain && (
          <MenuItem
            iconStart={<RiLinksLine />}
            onAction={() => saveFile(chainFile(certificate, chain))}
          >
            {t('certificates.actions.chain')}
          </MenuItem>
        )}
        <MenuItem
          iconStart={<RiCalendarEventLine />}
          onAction={() => saveReminder(certificate)}
        >
          {t('certificates.actions.reminder')}
        </MenuItem>
      </Menu>
    </MenuTrigger>
  );
}
