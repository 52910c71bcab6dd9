import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Cell, type ColumnConfig, Text, useBreakpoint } from '@backstage/ui';
import { useMemo } from 'react';
import { ColoredAvatar } from '../components/Avatar';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { knownTimeZone } from '../components/timeZones';
import { LinkTable } from '../page/DirectoryPage';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { PersonBadges } from './PeopleCards';
import styles from './PeopleTable.module.css';
import type { FoundPerson } from './peopleQuery';
import { otherMatches } from './searchPeople';

type Row = FoundPerson & { id: string };

/** Table of users; a single text column on narrow screens. */
export function PeopleTable(props: {
  people: readonly FoundPerson[];
  text?: string;
}) {
  const { people, text = '' } = props;
  const href = useRouteRef(personRouteRef);
  const hasMatches = people.some(
    person => otherMatches(person, text).length > 0,
  );
  const columns = useColumns(text, hasMatches);
  return (
    <LinkTable
      columns={columns}
      items={people}
      idOf={idOf}
      hrefOf={({ username }) => href?.({ username })}
    />
  );
}

function idOf({ username }: FoundPerson) {
  return username;
}

function useColumns(text: string, hasMatches: boolean): ColumnConfig<Row>[] {
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
        cell: person => (
          <PersonCell
            person={person}
            text={text}
            isWide={isWide}
            showsTime={!isWide}
          />
        ),
      },
      {
        id: 'username',
        label: t('people.column.username'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        cell: ({ username }) => (
          <Cell className={styles.text}>
            <Text truncate>
              <DirectoryText value={username} mark={text} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'match',
        label: t('people.column.match'),
        isHidden: !hasMatches || !isWide,
        defaultWidth: '3fr',
        cell: person => (
          <Cell className={styles.text}>
            <Matches person={person} text={text} />
          </Cell>
        ),
      },
      {
        id: 'pronouns',
        label: t('people.column.pronouns'),
        isHidden: !isVeryWide,
        defaultWidth: '2fr',
        cell: ({ pronouns }) => (
          <Cell className={styles.text}>
            <Text color="secondary" truncate>
              <DirectoryText value={pronouns?.[0] ?? ''} />
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
        cell: ({ timezone }) => (
          <Cell className={styles.number}>
            {timezone && <LocalTime timeZone={timezone} form="brief" />}
          </Cell>
        ),
      },
      {
        id: 'joined',
        label: t('people.column.joined'),
        isHidden: !isWide,
        defaultWidth: '1fr',
        minWidth: 120, // fits the heading and a date
        cell: ({ creation }) => <JoinedCell creation={creation} />,
      },
    ],
    [text, hasMatches, isVeryWide, isWide, t],
  );
}

/** Cell with the avatar, name and badges of a user. */
export function PersonCell(props: {
  person: FoundPerson;
  text: string;
  isWide: boolean;

  /** Whether to show the user's local time. Defaults to false. */
  showsTime?: boolean;
}) {
  const { person, text, isWide, showsTime = false } = props;
  const { username, human_name } = person;
  const timezone = knownTimeZone(person.timezone);
  return (
    <Cell className={styles.text}>
      <span className={styles.person}>
        <ColoredAvatar username={username} name={human_name} size="medium" />
        <span className={styles.name}>
          <Text weight="bold">
            <DirectoryText value={human_name ?? username} mark={text} />
          </Text>
          {!isWide && human_name && (
            <Text as="p" variant="body-small" color="secondary">
              <DirectoryText value={username} mark={text} />
            </Text>
          )}
          {showsTime && timezone && (
            <Text as="p" variant="body-small">
              <LocalTime timeZone={timezone} form="brief" />
            </Text>
          )}
          {!isWide && <Matches person={person} text={text} />}
          <PersonBadges person={person} />
        </span>
      </span>
    </Cell>
  );
}

/** Other fields that matched, with the matching words highlighted. */
function Matches({ person, text }: { person: FoundPerson; text: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <>
      {otherMatches(person, text).map(({ field, value }) => (
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
