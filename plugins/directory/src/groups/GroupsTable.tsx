import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Cell, type ColumnConfig, Text, useBreakpoint } from '@backstage/ui';
import { useMemo } from 'react';
import { DirectoryText } from '../components/DirectoryText';
import { GroupLink } from '../components/EntryLink';
import { locale } from '../language';
import { LinkTable } from '../page/DirectoryPage';
import { groupRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import { LinkIcons } from './groupLinks';
import styles from './GroupsTable.module.css';
import type { ListedGroup } from './useGroups';

type Row = ListedGroup & { id: string };

/** Table of groups; a single text column on narrow screens. */
export function GroupsTable(props: {
  groups: readonly ListedGroup[];

  /** Search text to highlight; empty without a search. */
  text: string;

  /** Sort order of the groups, as in the URL. */
  sort: string | undefined;
  onSort: (sort: string) => void;
}) {
  const { groups, text, sort, onSort } = props;
  const href = useRouteRef(groupRouteRef);
  const columns = useColumns(text);
  return (
    <LinkTable
      columns={columns}
      items={groups}
      idOf={idOf}
      hrefOf={({ groupname }) => href?.({ groupname })}
      sort={sort}
      onSort={onSort}
    />
  );
}

function idOf({ groupname }: ListedGroup) {
  return groupname;
}

function useColumns(text: string): ColumnConfig<Row>[] {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { up } = useBreakpoint();
  const isWide = up('md');

  return useMemo(
    () => [
      {
        id: 'groupname',
        isSortable: true,
        label: t('groups.column.group'),
        isRowHeader: true,
        defaultWidth: isWide ? '2fr' : '3fr',
        cell: ({ groupname, description }) => (
          <Cell className={styles.text}>
            <GroupLink groupname={groupname} mark={text} weight="bold" />
            {!isWide && description && (
              <Text as="p" variant="body-small" color="secondary">
                <DirectoryText value={description} mark={text} />
              </Text>
            )}
          </Cell>
        ),
      },
      {
        id: 'description',
        label: t('groups.column.description'),
        isHidden: !isWide,
        defaultWidth: '4fr',
        cell: ({ description }) => (
          <Cell className={styles.text}>
            <Text as="p" color="secondary">
              <DirectoryText value={description ?? ''} mark={text} />
            </Text>
          </Cell>
        ),
      },
      {
        id: 'member_count',
        isSortable: true,
        label: t('groups.column.members'),
        defaultWidth: '1fr',
        minWidth: 120, // fits the heading
        cell: ({ member_count }) => (
          <Cell>
            <Text className={styles.number}>
              {member_count.toLocaleString(locale())}
            </Text>
          </Cell>
        ),
      },
      {
        id: 'links',
        label: t('groups.column.links'),
        isHidden: !isWide,
        defaultWidth: '2fr',
        cell: group => (
          <Cell>
            <LinkIcons group={group} />
          </Cell>
        ),
      },
    ],
    [isWide, t, text],
  );
}
