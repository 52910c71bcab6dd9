import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import { visibleText } from '../components/DirectoryText';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import { isFiltered, type PeopleQuestion } from './peopleQuery';
import type { PeopleTask } from './readTask';
import type { AskPeople } from './usePeopleQuestion';

/** Options of {@link NothingFound}. */
export interface NothingFoundProps {
  question: PeopleQuestion;
  task: PeopleTask;
  ask: AskPeople;
}

/** What was looked for and where, and one click to look wider. */
export function NothingFound({ question, task, ask }: NothingFoundProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { page, text } = question;
  if (page > 1) {
    return (
      <EmptyState
        icon={<RiUserSearchLine />}
        title={t('people.nothing.pastEnd', { page: page.toLocaleString() })}
        actions={
          <Button onPress={() => ask({ page: 1 })}>
            {t('people.nothing.firstPage')}
          </Button>
        }
      />
    );
  }
  const terms = searchedTerms(task);
  const fields = new Intl.ListFormat(undefined, { type: 'disjunction' }).format(
    terms.map(({ field }) => t(`people.field.${field}`)),
  );
  const hasFilters = isFiltered(question);
  const canWiden = 'canWiden' in task && task.canWiden;
  return (
    <EmptyState
      icon={<RiUserSearchLine />}
      title={t('people.nothing.title')}
      description={
        text
          ? [
              t('people.nothing.searched', {
                text: visibleText(text),
                fields,
              }),
              ...(hasFilters ? [t('people.nothing.withFilters')] : []),
            ].join(' ')
          : t(hasFilters ? 'people.nothing.filtered' : 'people.nothing.empty')
      }
      actions={
        <>
          {hasFilters && (
            <Button
              onPress={() => ask({ groups: [], before: undefined, has: [] })}
            >
              {t('people.nothing.dropFilters')}
            </Button>
          )}
          {(canWiden || question.only) && (
            <Button
              variant={hasFilters ? 'secondary' : 'primary'}
              onPress={() => ask({ wide: true, only: undefined })}
            >
              {t('people.nothing.allFields')}
            </Button>
          )}
          {text && !hasFilters && (
            <Button
              variant="secondary"
              onPress={() => ask({ text: '', wide: false, everybody: true })}
            >
              {t('people.nothing.everybody')}
            </Button>
          )}
        </>
      }
    />
  );
}

function searchedTerms(task: PeopleTask) {
  if (task.kind === 'field') {
    return [task.term];
  }
  return task.kind === 'fields' ? task.terms : [];
}
