import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Box, Flex, Skeleton, Text } from '@backstage/ui';
import {
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiForbidLine,
  RiHourglassLine,
  RiQuestionLine,
  RiTimeLine,
} from '@remixicon/react';
import { type ReactElement, type ReactNode, useId } from 'react';
import { DirectoryText } from '../components/DirectoryText';
import { directoryTranslationRef } from '../translation';
import styles from './Facts.module.css';
import type { CertificateState } from './userCertificates';

/** A name and its value. */
interface Fact {
  name: string;
  value: ReactNode;
}

/** A list of names with their values, stacked on a narrow screen. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
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

/** A section with a heading. */
export function Part(props: {
  title: string;

  /** Explanation below the title. */
  note?: string;

  children: ReactNode;
}) {
  const { title, note, children } = props;
  const heading = useId();
  return (
    <Box
      as="section"
      bg="neutral"
      className={styles.part}
      aria-labelledby={heading}
    >
      <Text as="h2" id={heading} variant="title-x-small" weight="bold">
        {title}
      </Text>
      {note && (
        <Text as="p" variant="body-small" color="secondary">
          {note}
        </Text>
      )}
      <div className={styles.content}>{children}</div>
    </Box>
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
      {t(`person.certificates.${state}`)}
    </Badge>
  );
}

/** Explains the states `foreign` and `unchecked`; nothing for the others. */
export function CertificateHint({ state }: { state: CertificateState }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return state === 'foreign' || state === 'unchecked' ? (
    <Text as="p" variant="body-small" color="secondary">
      {t(`person.certificates.${state}Hint`)}
    </Text>
  ) : null;
}

/** Placeholder of a certificate page while loading. */
export function CertificatesSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Flex
      direction="column"
      gap="3"
      role="status"
      aria-label={t('states.loading')}
    >
      <Skeleton width="100%" height={140} />
      <Skeleton width="100%" height={36} />
      <Skeleton width="100%" height={56} />
      <Skeleton width="100%" height={56} />
    </Flex>
  );
}
