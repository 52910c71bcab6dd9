import {
  coreApis,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { EntityInfoCard, useEntity } from '@backstage/plugin-catalog-react';
import { Button, Flex, Link, Text } from '@backstage/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound } from '../api/useDirectoryQuery';
import { LoadingBlocks } from '../page/loading';
import { directoryTranslationRef } from '../translation';
import { directoryNameOf, readCatalogNames } from './catalogNames';
import styles from './DirectoryCard.module.css';

/** Returns the directory name of the entity on this page. */
export function useDirectoryName(): string {
  const { entity } = useEntity();
  const names = readCatalogNames(useApi(coreApis.config));
  return directoryNameOf(entity, names) ?? entity.metadata.name;
}

/** Card with the directory data of an entity, or its loading or error state. */
export function DirectoryCard<Data>(props: {
  title: string;

  /** Shown when the entity is not in the directory. */
  unknown: string;

  query: UseQueryResult<Data>;
  href: string;
  linkText: string;

  children: (data: Data) => ReactNode;
}) {
  const { title, unknown, query, href, linkText, children } = props;
  const { data, error, refetch } = query;
  const { t } = useTranslationRef(directoryTranslationRef);
  const isUnknown = isNotFound(error);

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
    return error ? (
      <Flex direction="column" align="start" gap="2" role="status">
        <Text as="p">{t('entity.failed')}</Text>
        <Button size="small" variant="secondary" onPress={() => refetch()}>
          {t('states.retry')}
        </Button>
      </Flex>
    ) : (
      <LoadingBlocks heights={[40, 48]} />
    );
  };

  return (
    <EntityInfoCard
      title={title}
      footerActions={
        data !== undefined && !isUnknown ? (
          <Link href={href} standalone>
            {linkText}
          </Link>
        ) : undefined
      }
    >
      <div className={styles.content}>{content()}</div>
    </EntityInfoCard>
  );
}

/** Maximum number of names on a card. */
export const MAX_NAMES = 5;

/** A line of names: a title, links, and the number of omitted names. */
export function NameLine(props: {
  title: string;
  total: number;
  shown: number;
  none: string;
  children: ReactNode;
}) {
  const { title, total, shown, none, children } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return total === 0 ? (
    <Text as="p" color="secondary">
      {none}
    </Text>
  ) : (
    <div className={styles.line}>
      <Text weight="bold">{title}</Text>
      {children}
      {total > shown && (
        <Text color="secondary">
          {t('entity.more', { count: total - shown })}
        </Text>
      )}
    </div>
  );
}
