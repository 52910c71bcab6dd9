import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { useRef } from 'react';
import { DirectoryPage } from '../page/DirectoryPage';
import { ErrorState, StaleNotice } from '../page/states';
import {
  focusFirstResult,
  Results,
  TextSearch,
  useArrowKeys,
} from '../page/TextSearch';
import { directoryTranslationRef } from '../translation';
import { Filters } from './Filters';
import { ViewSwitch } from './PeopleCards';
import styles from './PeoplePage.module.css';
import { usePeopleQuestion } from './peopleQuery';
import { PeopleResults, PeopleSkeleton, PeopleTotal } from './PeopleResults';
import { readTask, usePeople } from './usePeople';

/** `/directory/people`: searches and lists users. */
export function PeoplePage() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [question, ask] = usePeopleQuestion();
  const task = readTask(question);
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = usePeople(
    question,
    task,
  );
  const page = useRef<HTMLDivElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const handleKeys = useArrowKeys(results, () =>
    page.current?.querySelector('input')?.focus(),
  );
  const isTooShort = task.kind === 'tooShort';

  return (
    <DirectoryPage room="people">
      <div ref={page} className={styles.page}>
        <TextSearch
          isFirst
          label={t('people.search.label')}
          placeholder={t('people.search.placeholder')}
          text={question.text}
          isTooShort={isTooShort}
          onSearch={text =>
            ask({ text, only: undefined, wide: false }, { replace: true })
          }
          onLeaveDown={() => focusFirstResult(results.current)}
        />
        <div className={styles.bar}>
          <Filters filters={question} onChange={ask} />
          <div className={styles.total}>
            {data && !isTooShort && <PeopleTotal answer={data} />}
          </div>
          <ViewSwitch view={question.view} onChange={view => ask({ view })} />
        </div>
        {error && data && (
          <StaleNotice
            error={error}
            loadedAt={dataUpdatedAt}
            onRetry={refetch}
          />
        )}
        <Results
          ref={results}
          onKeyDown={question.view === 'cards' ? handleKeys : undefined}
          isBusy={isPlaceholderData}
          isOld={isTooShort}
        >
          {data && (
            <PeopleResults
              answer={data}
              question={question}
              task={task}
              ask={ask}
            />
          )}
          {!data && error && <ErrorState error={error} onRetry={refetch} />}
          {!data && !error && !isTooShort && (
            <PeopleSkeleton view={question.view} />
          )}
        </Results>
      </div>
    </DirectoryPage>
  );
}
