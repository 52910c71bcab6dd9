import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Text } from '@backstage/ui';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiForbidLine,
  RiHourglassLine,
  RiQuestionLine,
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
  foreign: <RiQuestionLine />,
  unchecked: <RiQuestionLine />,
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

/** Explains a state that does not explain itself; nothing for the others. */
export function CertificateHint({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return state === 'foreign' || state === 'unchecked' ? (
    <Text as="p" variant="body-small" color="secondary">
      {t(`person.certificates.${state}Hint`)}
    </Text>
  ) : null;
}
