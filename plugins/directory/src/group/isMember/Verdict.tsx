import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Skeleton, Text } from '@backstage/ui';
import { RiCheckLine, RiCloseLine, RiErrorWarningLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { DirectoryText } from '../../components/DirectoryText';
import { personRouteRef } from '../../routes';
import { directoryTranslationRef } from '../../translation';
import styles from '../IsMember.module.css';

/** Options of {@link Verdict}. */
export interface VerdictProps {
  username: string;
  answer: UseQueryResult<boolean>;
}

/** Whether somebody is a member, by picture and word; or that it is unknown. */
export function Verdict({ username, answer }: VerdictProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const { data, error } = answer;
  const name = <DirectoryText value={username} />;
  // People are let in by this: an answer that cannot be renewed is none.
  if (error) {
    return (
      <Text as="p" className={styles.verdict} color="danger">
        <RiErrorWarningLine aria-hidden="true" />
        {t('group.isMember.failed')}
      </Text>
    );
  }
  if (data === undefined) {
    return <Skeleton width="80%" height={20} />;
  }
  return data ? (
    <>
      <Text as="p" className={styles.verdict} weight="bold">
        <RiCheckLine aria-hidden="true" />
        {t('group.isMember.yes', { username: name })}
      </Text>
      <Link href={href?.({ username }) ?? ''} variant="body-small" standalone>
        {t('group.isMember.profile', { username: name })}
      </Link>
    </>
  ) : (
    <>
      <Text as="p" className={styles.verdict} weight="bold">
        <RiCloseLine aria-hidden="true" />
        {t('group.isMember.no', { username: name })}
      </Text>
      <Text as="p" variant="body-small" color="secondary">
        {t('group.isMember.noHint')}
      </Text>
    </>
  );
}
