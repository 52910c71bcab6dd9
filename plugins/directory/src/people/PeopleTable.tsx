import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Cell,
  CellText,
  type ColumnConfig,
  Table,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import { useMemo } from 'react';
import { ColoredAvatar } from '../avatar';
import { personRouteRef } from '../routes';
import { DateTime, LocalTime, parseUtc } from '../time';
import { directoryTranslationRef } from '../translation';
import { MarkedText } from './MarkedText';
import type { MatchedPerson } from './mergeMatches';
import styles from './PeopleTable.module.css';
import { PersonBadges } from './PersonBadges';

type Row = MatchedPerson & { id: string };

/** People as rows; a narrow screen shows who they are and nothing else. */
export function PeopleTable({ people }: { people: readonly MatchedPerson[] }) {
  const href = useRouteRef(personRouteRef);
  const columns = useColumns(people.some(({ matches }) => matches.length > 0));
  const rows = useMemo(
    () => people.map(one => ({ ...one, id: one.person.username })),
    [people],
  );
  return (
    <Table
      columnConfig={columns}
      data={rows}
      pagination={{ type: 'none' }}
      rowConfig={{ getHref: ({ id }) => href?.({ username: id }) }}
    />
  );
}

function useColumns(hasMatches: boolean): ColumnConfig<Row>[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');

  return useMemo(
    () => [
      {
        id: 'person',
        label: t('people.column.person'),
        isRowHeader: true,
        cell: ({ person }) => <PersonCell person={person} />,
      },
      {
        id: 'username',
        label: t('people.column.username'),
        cell: ({ person }) => <CellText title={person.username} />,
      },
      {
        id: 'match',
        label: t('people.column.match'),
        isHidden: !hasMatches || !isWide,
        cell: ({ matches }) => (
          <Cell className={styles.match}>
            {matches.map(({ field, value, text }) => (
              <Text key={field} as="p" variant="body-small">
                <span className={styles.quiet}>
                  {t(`people.field.${field}`)}
                </span>{' '}
                <MarkedText value={value} mark={text} />
              </Text>
            ))}
          </Cell>
        ),
      },
      {
        id: 'pronouns',
        label: t('people.column.pronouns'),
        isHidden: !isWide,
        cell: ({ person }) => (
          <CellText title={person.pronouns?.[0] ?? ''} color="secondary" />
        ),
      },
      {
        id: 'localTime',
        label: t('people.column.localTime'),
        isHidden: !isWide,
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
        cell: ({ person }) => <JoinedCell creation={person.creation} />,
      },
    ],
    [hasMatches, isWide, t],
  );
}

function PersonCell({ person }: Pick<Row, 'person'>) {
  const { username, human_name } = person;
  return (
    <Cell>
      <span className={styles.person}>
        <ColoredAvatar username={username} name={human_name} size="medium" />
        <span className={styles.name}>
          <Text weight="bold">{human_name ?? username}</Text>
          <PersonBadges person={person} />
        </span>
      </span>
    </Cell>
  );
}

function JoinedCell({ creation }: { creation: string | null }) {
  const date = parseUtc(creation);
  return (
    <Cell className={styles.number}>{date && <DateTime value={date} />}</Cell>
  );
}
