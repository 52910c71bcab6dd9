import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, ButtonLink, Text } from '@backstage/ui';
import type { Certificate } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiForbidLine,
  RiHourglassLine,
  RiPauseCircleLine,
  RiQuestionLine,
  RiShieldKeyholeLine,
  RiTimeLine,
  RiUserLine,
} from '@remixicon/react';
import type { ReactElement, ReactNode } from 'react';
import { DateTime } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { LoadingBlocks } from '../page/loading';
import { EmptyState } from '../page/states';
import { certificatesRouteRef } from '../routes';
import { locale } from '../language';
import { directoryTranslationRef } from '../translation';
import styles from './Facts.module.css';
import { certificateMessages } from './messages';
import type { CertificateState, ListedCertificate } from './userCertificates';

interface Fact {
  name: string;
  value: ReactNode;
}

/** A list of names and values, stacked on narrow screens. */
export function Facts(props: {
  /** Names and values; `undefined` items are skipped. */
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
  hold: <RiPauseCircleLine />,
  notYet: <RiHourglassLine />,
  foreign: <RiQuestionLine />,
  unchecked: <RiQuestionLine />,
};

/** State of a certificate, as an icon, a text and a color. */
export function CertificateBadge({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Badge icon={icons[state]} className={styles[state]}>
      {t(`certificate.state.${state}`)}
    </Badge>
  );
}

/** Revocation reasons by code (RFC 5280 §5.3.1). Code 7 is not used. */
const REASONS = [
  'unspecified',
  'keyCompromise',
  'caCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  'unspecified',
  'removeFromCrl',
  'privilegeWithdrawn',
  'aaCompromise',
] as const;

/**
 * Explains a state: when and why the certificate was revoked, or why it is on
 * hold and what to do. Empty for states that need no explanation.
 */
export function CertificateHint(props: {
  certificate: Pick<Certificate, 'revocation_reason' | 'revoked_at'>;
  state: CertificateState;
}) {
  const { certificate, state } = props;
  const { revocation_reason, revoked_at } = certificate;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (state === 'revoked') {
    const name = REASONS[revocation_reason ?? 0] ?? 'unspecified';
    const reason = t(`certificate.reason.${name}`);
    const date = revoked_at && <DateTime value={new Date(revoked_at)} />;
    return date ? (
      <>{t('certificate.revokedOn', { date, reason })}</>
    ) : (
      <>{t('certificate.revokedWhy', { reason })}</>
    );
  }
  return state === 'hold' || state === 'foreign' || state === 'unchecked' ? (
    <>{t(`certificate.state.${state}Hint`)}</>
  ) : null;
}

const { use: uses } = certificateMessages;

/**
 * Returns a function that describes an extended key usage by its name or OID.
 */
export function useUsageText() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (name: string) =>
    Object.hasOwn(uses, name)
      ? t(`certificate.use.${name as keyof typeof uses}`)
      : t('certificate.otherPurpose', { name });
}

/** Returns a function that names a certificate by its purpose and label. */
export function useCertificateName() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const textOf = useUsageText();
  return ({
    extended_key_usage: usages,
    label,
  }: Pick<Certificate, 'extended_key_usage' | 'label'>) => {
    const purpose =
      usages?.map(textOf).join(', ') || t('certificate.anyPurpose');
    return label
      ? t('certificate.named', { purpose, label: visibleText(label) })
      : purpose;
  };
}

/**
 * Start of the validity of a certificate, with the time, because several
 * certificates may be issued on a day.
 */
export function ValidFrom(props: { certificate: ListedCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const start = new Date(props.certificate.valid_not_before);
  return (
    <Text as="p" variant="body-small" color="secondary">
      {t('certificate.from')}{' '}
      <DateTime value={start}>
        {start.toLocaleString(locale(), {
          dateStyle: 'medium',
          timeStyle: 'short',
        })}
      </DateTime>
    </Text>
  );
}

export function CertificatesSkeleton() {
  return <LoadingBlocks heights={[140, 36, 56, 56]} />;
}

/** Shown when no CA issues certificates. */
export function NoAuthority() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <EmptyState
      icon={<RiShieldKeyholeLine />}
      title={t('certificates.noAuthority.title')}
      description={t('certificates.noAuthority.description')}
    />
  );
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

/**
 * Explains why the certificate is missing, with a link to the user's
 * certificates.
 */
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
