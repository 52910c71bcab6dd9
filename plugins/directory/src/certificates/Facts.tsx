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
import { DateTime, formatTimeLeft } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { EmptyState, LoadingBlocks } from '../page/states';
import { certificatesRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './Facts.module.css';
import {
  type CertificateState,
  certificateState,
  type ListedCertificate,
} from './userCertificates';

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
  hold: <RiPauseCircleLine />,
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

/** RFC 5280 §5.3.1; 7 is not used. */
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
 * Explains a state: when and why a certificate was revoked, why it is on hold
 * and what to do; nothing for states that need no explanation.
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

/** State and expiry of a certificate, and an explanation of the state. */
export function Validity(props: { certificate: ListedCertificate; now: Date }) {
  const { certificate, now } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const state = certificateState(certificate, now);
  const expiry = new Date(certificate.valid_not_after);
  return (
    <>
      <CertificateBadge state={state} />
      {state !== 'revoked' && (
        <Text as="p" variant="body-small" color="secondary">
          {t(
            expiry < now ? 'certificate.expiredAgo' : 'certificate.expiresIn',
            {
              left: formatTimeLeft(expiry, now),
              date: <DateTime value={expiry} />,
            },
          )}
        </Text>
      )}
      <Text as="p" variant="body-small" color="secondary">
        <CertificateHint certificate={certificate} state={state} />
      </Text>
    </>
  );
}

/** Extended key usages that have a text. */
const KNOWN_USAGES = [
  'clientAuth',
  'emailProtection',
  'codeSigning',
  'serverAuth',
  'smartcardLogon',
  'pkinitClientAuth',
  'timeStamping',
  'OCSPSigning',
  'anyExtendedKeyUsage',
] as const;

/** Returns a function that describes an extended key usage. */
export function useUsageText() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (name: string) => {
    const known = KNOWN_USAGES.find(usage => usage === name);
    return known
      ? t(`certificate.use.${known}`)
      : t('certificate.use.other', { name });
  };
}

/** Returns a function that names a certificate: its purpose, and its label. */
export function useCertificateName() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const textOf = useUsageText();
  return ({
    extended_key_usage: usages,
    label,
  }: Pick<Certificate, 'extended_key_usage' | 'label'>) => {
    const purpose = usages?.map(textOf).join(', ') || t('certificate.use.any');
    return label
      ? t('certificate.named', { purpose, label: visibleText(label) })
      : purpose;
  };
}

/** Day on which a certificate was issued. */
export function IssueDate({ certificate }: { certificate: ListedCertificate }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Text as="p" variant="body-small" color="secondary">
      {t('certificate.issued', {
        date: <DateTime value={new Date(certificate.valid_not_before)} />,
      })}
    </Text>
  );
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
