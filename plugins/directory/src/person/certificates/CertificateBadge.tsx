import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge } from '@backstage/ui';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiForbidLine,
  RiHourglassLine,
  RiTimeLine,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import { directoryTranslationRef } from '../../translation';
import styles from './CertificateBadge.module.css';
import type { CertificateState } from './certificateState';

const icons: Record<CertificateState, ReactElement> = {
  valid: <RiCheckboxCircleLine />,
  expiring: <RiTimeLine />,
  expired: <RiCloseCircleLine />,
  revoked: <RiForbidLine />,
  notYet: <RiHourglassLine />,
};

/** How a certificate stands: by icon, by word, and by color. */
export function CertificateBadge({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Badge icon={icons[state]} className={styles[state]}>
      {t(`person.certificates.${state}`)}
    </Badge>
  );
}
