import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Flex, Skeleton, Text } from '@backstage/ui';
import { RiUserSearchLine } from '@remixicon/react';
import type { ReactNode } from 'react';
import { visibleText } from '../components/DirectoryText';
import { PageTurner } from '../page/Pagination';
import { EmptyState } from '../page/states';
import { counted, directoryTranslationRef } from '../translation';
import { PeopleCards } from './PeopleCards';
import cards from './PeopleCards.module.css';
import { type AskPeople, isFiltered, type PeopleQuestion } from './peopleQuery';
import styles from './PeopleResults.module.css';
import { PeopleTable } from './PeopleTable';
import type { MatchSection } from './searchPeople';
import { PAGE_SIZE, type PeopleAnswer, type PeopleTask } from './usePeople';

const SKELETON_CARDS = Array.from({ length: 24 }, (_, index) => index);

/** The results of a query: by field, or a list with pages. */
export function PeopleResults(props: {
  answer: PeopleAnswer;
  question: PeopleQuestion;
  task: PeopleTask;
  ask: AskPeople;
}) {
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

/** Placeholder of the results while loading. */
export function PeopleSkeleton({ view }: Pick<PeopleQuestion, 'view'>) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div role="status" aria-label={t('states.loading')}>
      <div className={styles.heading}>
        <Skeleton width={180} height={20} />
      </div>
      {view === 'table' ? (
        <Skeleton width="100%" height={560} />
      ) : (
        <div className={cards.cards}>
          {SKELETON_CARDS.map(place => (
            <Skeleton key={place} width="100%" height={68} />
          ))}
        </div>
      )}
    </div>
  );
}

/** Number of users, at least or exactly, as far as the results tell. */
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

/** The matches of one field, with its name and their number. */
function PeopleSection(props: {
  section: MatchSection;
  title: ReactNode;
  view: PeopleQuestion['view'];

  /** Shows only the matches of this field, on pages, when there are more. */
  onShowAll?: () => void;
}) {
  const { section, title, view, onShowAll } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { people, total, shownAbove, error, field } = section;
  const count = error
    ? t('people.sectionFailed')
    : [
        ...(field ? [t('people.matches', counted(total))] : []),
        ...(shownAbove ? [t('people.shownAbove', { count: shownAbove })] : []),
      ].join(', ');

  return (
    <section className={styles.section}>
      <div className={styles.heading}>
        <Text as="h2" variant="body-large" weight="bold">
          {title}
        </Text>
        <Text variant="body-small" color={error ? 'danger' : 'secondary'}>
          {count}
        </Text>
        {onShowAll && people.length + shownAbove < total && (
          <Button size="small" variant="tertiary" onPress={onShowAll}>
            {t('people.showAll', { total: total.toLocaleString() })}
          </Button>
        )}
      </div>
      {people.length > 0 &&
        (view === 'table' ? (
          <PeopleTable people={people} />
        ) : (
          <PeopleCards people={people} />
        ))}
    </section>
  );
}

/** States what was searched in which fields, with buttons to widen the search. */
function NothingFound(props: {
  question: PeopleQuestion;
  task: PeopleTask;
  ask: AskPeople;
}) {
  const { question, task, ask } = props;
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
