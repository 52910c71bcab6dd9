import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Skeleton, Text } from '@backstage/ui';
import { RiGroupLine } from '@remixicon/react';
import { useRef } from 'react';
import { visibleText } from '../components/DirectoryText';
import { DirectoryPage } from '../page/DirectoryPage';
import { PageTurner } from '../page/Pagination';
import { EmptyState, ErrorState, StaleNotice } from '../page/states';
import {
  focusFirstResult,
  isTooShort,
  Results,
  TextSearch,
} from '../page/TextSearch';
import { counted, directoryTranslationRef } from '../translation';
import styles from './GroupsPage.module.css';
import { GroupsTable } from './GroupsTable';
import {
  type AskGroups,
  type GroupsQuestion,
  PAGE_SIZE,
  useGroups,
  useGroupsQuestion,
} from './useGroups';

const SKELETON_ROWS = Array.from({ length: 12 }, (_, index) => index);

/** `/directory/groups`: searches and lists groups. */
export function GroupsPage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [question, ask] = useGroupsQuestion();
  const { text, page } = question;
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } =
    useGroups(question);
  const results = useRef<HTMLDivElement>(null);
  const isWaiting = isTooShort(text);

  return (
    <DirectoryPage room="groups">
      <div className={styles.page}>
        <TextSearch
          isFirst
          label={t('groups.search.label')}
          placeholder={t('groups.search.placeholder')}
          text={text}
          isTooShort={isWaiting}
          onSearch={next => ask({ text: next }, { replace: true })}
          onLeaveDown={() => focusFirstResult(results.current)}
        />
        <div className={styles.total}>
          {data && !isWaiting && (
            <Text role="status" variant="body-medium" color="secondary">
              {t('groups.total', counted(data.total))}
            </Text>
          )}
        </div>
        {error && data && (
          <StaleNotice
            error={error}
            loadedAt={dataUpdatedAt}
            onRetry={refetch}
          />
        )}
        <Results ref={results} isBusy={isPlaceholderData} isOld={isWaiting}>
          {data && data.groups.length === 0 && (
            <NoGroups question={question} ask={ask} />
          )}
          {data && data.groups.length > 0 && (
            <>
              <GroupsTable
                groups={data.groups}
                text={isPlaceholderData ? '' : text}
              />
              <PageTurner
                page={page}
                pageSize={PAGE_SIZE}
                total={data.total}
                onTurn={next => ask({ page: next })}
              />
            </>
          )}
          {!data && error && <ErrorState error={error} onRetry={refetch} />}
          {!data && !error && !isWaiting && <GroupsSkeleton />}
        </Results>
      </div>
    </DirectoryPage>
  );
}

/** Placeholder of the list while loading. */
function GroupsSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Flex
      direction="column"
      gap="2"
      role="status"
      aria-label={t('states.loading')}
    >
      <Skeleton width="100%" height={36} />
      {SKELETON_ROWS.map(row => (
        <Skeleton key={row} width="100%" height={40} />
      ))}
    </Flex>
  );
}

/** States why there is no group to show, with a button that shows others. */
function NoGroups(props: { question: GroupsQuestion; ask: AskGroups }) {
  const { question, ask } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { text, page } = question;
  if (page > 1) {
    return (
      <EmptyState
        icon={<RiGroupLine />}
        title={t('groups.nothing.pastEnd', { page: page.toLocaleString() })}
        actions={
          <Button onPress={() => ask({ page: 1 })}>
            {t('groups.nothing.firstPage')}
          </Button>
        }
      />
    );
  }
  if (!text) {
    return (
      <EmptyState
        icon={<RiGroupLine />}
        title={t('groups.nothing.empty')}
        description={t('groups.nothing.emptyHint')}
      />
    );
  }
  return (
    <EmptyState
      icon={<RiGroupLine />}
      title={t('groups.nothing.title')}
      description={t('groups.nothing.searched', { text: visibleText(text) })}
      actions={
        <Button onPress={() => ask({ text: '' })}>
          {t('groups.nothing.everything')}
        </Button>
      }
    />
  );
}
