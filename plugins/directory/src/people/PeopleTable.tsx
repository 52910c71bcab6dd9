import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Cell, type ColumnConfig, Text, useBreakpoint } from '@backstage/ui';
import { useMemo } from 'react';
import { ColoredAvatar } from '../components/Avatar';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { LinkTable } from '../page/DirectoryPage';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { PersonBadges } from './PeopleCards';
import styles from './PeopleTable.module.css';
import type { MatchedPerson } from './searchPeople';

type Row = MatchedPerson & { id: string };

/** Table of users; a narrow screen has one column of text. */
export function PeopleTable({ people }: { people: readonly MatchedPerson[] }) {
  const href = useRouteRef(personRouteRef);
  const columns = useColumns(people.some(({ matches }) => matches.length > 0));
  return (
    <LinkTable
      columns={columns}
      items={people}
      idOf={idOf}
      hrefOf={({ person }) => href?.({ username: person.username })}
    />
  );
}

function idOf({ person }: MatchedPerson) {
  return person.username;
}

function useColumns(hasMatches: boolean): ColumnConfig<Row>[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');
  const isVeryWide = up('xl');

  return useMemo(
    () => [
      {
        id: 'person',
        label: t('people.column.person'),
        isRowHeader: true,
        defaultWidth: '3fr',
        cell: row => <PersonCell row={row} isWide={isWide} />,
      },
      {
        id: 'username',
        label: t('people.column.username'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        cell: ({ person }) => (
          <Cell className={styles.text}>
            <Text truncate>
              <DirectoryText value={person.username} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'match',
        label: t('people.column.match'),
        isHidden: !hasMatches || !isWide,
        defaultWidth: '3fr',
        cell: ({ matches }) => (
          <Cell className={styles.text}>
            <Matches matches={matches} />
          </Cell>
        ),
      },
      {
        id: 'pronouns',
        label: t('people.column.pronouns'),
        isHidden: !isVeryWide,
        defaultWidth: '2fr',
        cell: ({ person }) => (
          <Cell className={styles.text}>
            <Text color="secondary" truncate>
              <DirectoryText value={person.pronouns?.[0] ?? ''} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'localTime',
        label: t('people.column.localTime'),
        isHidden: !isWide,
        defaultWidth: '1fr',
        minWidth: 120, // fits the heading and a date
        cell: ({ person }) => (
          <Cell className={styles.number}>
            {person.timezone && (
              <LocalTime timeZone={person.timezone} form="brief" />
            )}
          </Cell>
        ),
      },
      {
        id: 'joined',
        label: t('people.column.joined'),
        isHidden: !isWide,
        defaultWidth: '1fr',
        minWidth: 120, // fits the heading and a date
        cell: ({ person }) => <JoinedCell creation={person.creation} />,
      },
    ],
    [hasMatches, isVeryWide, isWide, t],
  );
}

function PersonCell({ row, isWide }: { row: Row; isWide: boolean }) {
  const { person, matches } = row;
  const { username, human_name } = person;
  const isFoundByUsername = matches.some(({ field }) => field === 'username');
  return (
    <Cell className={styles.text}>
      <span className={styles.person}>
        <ColoredAvatar username={username} name={human_name} size="medium" />
        <span className={styles.name}>
          <Text weight="bold">
            <DirectoryText value={human_name ?? username} />
          </Text>
          {!isWide && human_name && !isFoundByUsername && (
            <Text as="p" variant="body-small" color="secondary">
              <DirectoryText value={username} />
            </Text>
          )}
          {!isWide && <Matches matches={matches} />}
          <PersonBadges person={person} />
        </span>
      </span>
    </Cell>
  );
}

/** The fields that matched, with the matching text highlighted. */
function Matches({ matches }: Pick<Row, 'matches'>) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <>
      {matches.map(({ field, value, text }) => (
        <Text key={field} as="p" variant="body-small">
          <span className={styles.field}>{t(`people.field.${field}`)}</span>{' '}
          <DirectoryText value={value} mark={text} />
        </Text>
      ))}
    </>
  );
}

function JoinedCell({ creation }: { creation: string | null }) {
  const date = parseUtc(creation);
  return (
    <Cell className={styles.number}>{date && <DateTime value={date} />}</Cell>
  );
}
