import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { useRef } from 'react';
import { DirectoryPage } from '../page/DirectoryPage';
import { PageTurner } from '../page/Pagination';
import { ErrorState, StaleNotice } from '../page/states';
import {
  focusFirstResult,
  isTooShort,
  Results,
  TextSearch,
} from '../page/TextSearch';
import { counted, directoryTranslationRef } from '../translation';
import styles from './GroupsPage.module.css';
import { GroupsSkeleton } from './GroupsSkeleton';
import { GroupsTable } from './GroupsTable';
import { NoGroups } from './NoGroups';
import { PAGE_SIZE, useGroups } from './useGroups';
import { useGroupsQuestion } from './useGroupsQuestion';

/** `/directory/groups`: what groups are there? */
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
