import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { EntityInfoCard } from '@backstage/plugin-catalog-react';
import { Button, Flex, Skeleton, Text } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { directoryTranslationRef } from '../translation';
import styles from './DirectoryCard.module.css';

/** Card with directory data of an entity, loading, loaded or failed. */
export function DirectoryCard<Data>(props: {
  title: string;

  /** Text when the entity is not in the directory. */
  unknown: string;

  query: UseQueryResult<Data>;

  /** Link to the directory page. */
  footer: ReactNode;

  children: (data: Data) => ReactNode;
}) {
  const { title, unknown, query, footer, children } = props;
  const { data, error, refetch } = query;
  const { t } = useTranslationRef(directoryTranslationRef);
  const isUnknown = isDirectoryResponseError(error) && error.status === 404;

  const content = () => {
    if (isUnknown) {
      return (
        <Text as="p" color="secondary">
          {unknown}
        </Text>
      );
    }
    if (data !== undefined) {
      return children(data);
    }
    if (error) {
      return (
        <Flex direction="column" align="start" gap="2" role="status">
          <Text as="p">{t('entity.failed')}</Text>
          <Button size="small" variant="secondary" onPress={() => refetch()}>
            {t('entity.again')}
          </Button>
        </Flex>
      );
    }
    return (
      <Flex
        direction="column"
        gap="2"
        role="status"
        aria-label={t('states.loading')}
      >
        <Skeleton width="60%" height={40} />
        <Skeleton width="100%" height={48} />
      </Flex>
    );
  };

  return (
    <EntityInfoCard
      title={title}
      footerActions={data !== undefined && !isUnknown ? footer : undefined}
    >
      <div className={styles.content}>{content()}</div>
    </EntityInfoCard>
  );
}
