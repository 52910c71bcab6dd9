import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { counted, directoryTranslationRef } from '../translation';
import type { MatchSection } from './mergeMatches';
import { PeopleCards } from './PeopleCards';
import type { PeopleQuestion } from './peopleQuery';
import styles from './PeopleSection.module.css';
import { PeopleTable } from './PeopleTable';

/** Options of {@link PeopleSection}. */
export interface PeopleSectionProps {
  section: MatchSection;
  title: ReactNode;
  view: PeopleQuestion['view'];

  /** Shows the matches of this field alone, on pages, when there are more. */
  onShowAll?: () => void;
}

/** The people whom one field brought, under its name and their number. */
export function PeopleSection(props: PeopleSectionProps) {
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
