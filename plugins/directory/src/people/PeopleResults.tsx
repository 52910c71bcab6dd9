import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Text } from '@backstage/ui';
import { PageTurner } from '../page/Pagination';
import { counted, directoryTranslationRef } from '../translation';
import type { MatchSection } from './mergeMatches';
import { NothingFound } from './NothingFound';
import type { PeopleQuestion } from './peopleQuery';
import { PeopleSection } from './PeopleSection';
import type { PeopleTask } from './readTask';
import { PAGE_SIZE, type PeopleAnswer } from './usePeople';
import type { AskPeople } from './usePeopleQuestion';

/** Options of {@link PeopleResults}. */
export interface PeopleResultsProps {
  answer: PeopleAnswer;
  question: PeopleQuestion;
  task: PeopleTask;
  ask: AskPeople;
}

/** The people whom a question brought: by field, or a list with pages. */
export function PeopleResults(props: PeopleResultsProps) {
  const { answer, question, task, ask } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { sections, list } = answer;
  const shown = sections.filter(
    ({ people, error }) => people.length > 0 || error,
  );
  if (shown.length === 0) {
    return <NothingFound question={question} task={task} ask={ask} />;
  }
  const titleOf = ({ field }: MatchSection) => {
    if (field) {
      return t(`people.field.${field}`);
    }
    return t(`people.${list === 'found' ? 'filtered' : list}.title`);
  };
  const hasPages = task.kind !== 'fields' && list !== 'mine';
  const [first] = shown;

  return (
    <>
      {task.kind === 'field' && task.terms.length > 1 && (
        <Button
          size="small"
          variant="tertiary"
          onPress={() => ask({ only: undefined })}
        >
          {t('people.backToAll')}
        </Button>
      )}
      {shown.map(section => (
        <PeopleSection
          key={section.field ?? list}
          section={section}
          title={titleOf(section)}
          view={question.view}
          onShowAll={
            task.kind === 'fields'
              ? () => ask({ only: section.field })
              : undefined
          }
        />
      ))}
      {list === 'mine' && (
        <Flex mt="4">
          <Button variant="secondary" onPress={() => ask({ everybody: true })}>
            {t('people.mine.everybody')}
          </Button>
        </Flex>
      )}
      {hasPages && (
        <PageTurner
          page={question.page}
          pageSize={PAGE_SIZE}
          total={first.total}
          onTurn={page => ask({ page })}
        />
      )}
    </>
  );
}

/** How many people there are, as exactly as the server's pages tell. */
export function PeopleTotal({ answer }: { answer: PeopleAnswer }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { count, isExact } = answer;
  return (
    <Text role="status" variant="body-medium" color="secondary">
      {isExact
        ? t('people.total', counted(count))
        : t('people.totalAtLeast', { total: count.toLocaleString() })}
    </Text>
  );
}
