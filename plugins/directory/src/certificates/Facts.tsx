import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, ButtonLink, Text } from '@backstage/ui';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiForbidLine,
  RiHourglassLine,
  RiQuestionLine,
  RiShieldKeyholeLine,
  RiTimeLine,
  RiUserLine,
} from '@remixicon/react';
import type { ReactElement, ReactNode } from 'react';
import { DirectoryText } from '../components/DirectoryText';
import { EmptyState, LoadingBlocks } from '../page/states';
import { certificatesRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './Facts.module.css';
import type { CertificateState } from './userCertificates';

interface Fact {
  name: string;
  value: ReactNode;
}

/** A list of names with their values, stacked on a narrow screen. */
export function Facts(props: {
  /** `undefined` is left out. */
  facts: readonly (Fact | undefined)[];
}) {
  const facts = props.facts.flatMap(fact => fact ?? []);
  return (
    <dl className={styles.facts}>
      {facts.map(({ name, value }) => (
        <div key={name} className={styles.fact}>
          <dt>
            <Text color="secondary">{name}</Text>
          </dt>
          <dd className={styles.value}>
            {typeof value === 'string' ? (
              <DirectoryText value={value} />
            ) : (
              value
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const icons: Record<CertificateState, ReactElement> = {
  valid: <RiCheckboxCircleLine />,
  expiring: <RiTimeLine />,
  expired: <RiCloseCircleLine />,
  revoked: <RiForbidLine />,
  notYet: <RiHourglassLine />,
  foreign: <RiQuestionLine />,
  unchecked: <RiQuestionLine />,
};

/** State of a certificate, by icon, text and color. */
export function CertificateBadge({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Badge icon={icons[state]} className={styles[state]}>
      {t(`certificate.state.${state}`)}
    </Badge>
  );
}

/** Explains the states `foreign` and `unchecked`; nothing for the others. */
export function CertificateHint({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return state === 'foreign' || state === 'unchecked' ? (
    <Text as="p" variant="body-small" color="secondary">
      {t(`certificate.state.${state}Hint`)}
    </Text>
  ) : null;
}

export function CertificatesSkeleton() {
  return <LoadingBlocks heights={[140, 36, 56, 56]} />;
}

/** Shown to users without a directory user. */
export function NotMapped() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <EmptyState
      icon={<RiUserLine />}
      title={t('certificates.notMapped.title')}
      description={t('certificates.notMapped.description')}
    />
  );
}

/** Explains why there is no certificate, with a link to the user's own. */
export function NoCertificate(props: {
  title: ReactNode;
  description: string;
}) {
  const { title, description } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const mine = useRouteRef(certificatesRouteRef)?.() ?? '/';
  return (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={title}
      description={description}
      actions={
        <ButtonLink variant="primary" href={mine}>
          {t('certificates.mine')}
        </ButtonLink>
      }
    />
  );
}
