import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Badge,
  Cell,
  type ColumnConfig,
  Flex,
  Text,
  useBreakpoint,
} from '@backstage/ui';
import { RiStarFill } from '@remixicon/react';
import { useMemo } from 'react';
import { ColoredAvatar } from '../components/Avatar';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { PersonLink } from '../components/EntryLink';
import { knownTimeZone } from '../components/timeZones';
import { LinkTable } from '../page/DirectoryPage';
import { Matches, PersonBadges } from '../people/PeopleCards';
import { WhyButton } from '../person/GroupsTab';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './MembersTable.module.css';
import type { Member } from './useMembers';

/** Table of a group's members; two columns on narrow screens. */
export function MembersTable(props: {
  groupname: string;
  members: readonly Member[];

  /** Search text to highlight. Defaults to none. */
  text?: string;

  /** Whether to show the join times of members. */
  hasHistory: boolean;

  /** Sort order of the members, as in the URL. */
  sort: string | undefined;
  onSort: (sort: string) => void;
}) {
  const { members, sort, onSort } = props;
  const href = useRouteRef(personRouteRef);
  return (
    <LinkTable
      columns={useColumns(props)}
      items={members}
      idOf={idOf}
      hrefOf={({ username }) => href?.({ username })}
      sort={sort}
      onSort={onSort}
    />
  );
}

function idOf({ username }: Member) {
  return username;
}

function useColumns(options: {
  groupname: string;
  text?: string;
  hasHistory: boolean;
}): ColumnConfig<Member & { id: string }>[] {
  const { groupname, text = '', hasHistory } = options;
  const { t } = useTranslationRef(directoryTranslationRef);
  const isWide = useBreakpoint().up('lg');

  return useMemo(
    () => [
      {
        id: 'human_name',
        label: t('group.members.person'),
        isRowHeader: true,
        isSortable: true,
        defaultWidth: '3fr',
        cell: person => (
          <PersonCell person={person} text={text} showsTime={!isWide} />
        ),
      },
      {
        id: 'direct',
        label: t('group.members.membership'),
        isSortable: true,
        defaultWidth: '2fr',
        minWidth: 144, // fits the heading
        cell: member => (
          <Cell>
            <Membership groupname={groupname} member={member} />
          </Cell>
        ),
      },
      {
        id: 'sponsor',
        label: t('group.members.sponsor'),
        isSortable: true,
        isHidden: !isWide,
        defaultWidth: '1fr',
        minWidth: 112,
        cell: ({ sponsor }) => (
          <Cell>
            {sponsor && (
              <Badge icon={<RiStarFill />}>{t('group.members.sponsor')}</Badge>
            )}
          </Cell>
        ),
      },
      {
        id: 'joined',
        label: t('group.members.joined'),
        isSortable: true,
        isHidden: !isWide || !hasHistory,
        defaultWidth: '1fr',
        minWidth: 120,
        cell: ({ joined }) => {
          const date = parseUtc(joined);
          return (
            <Cell className={styles.number}>
              {date && <DateTime value={date} />}
            </Cell>
          );
        },
      },
      {
        id: 'timezone',
        label: t('group.members.localTime'),
        isSortable: true,
        isHidden: !isWide,
        defaultWidth: '1fr',
        minWidth: 128,
        cell: ({ timezone }) => (
          <Cell className={styles.number}>
            {timezone && <LocalTime timeZone={timezone} form="brief" />}
          </Cell>
        ),
      },
    ],
    [groupname, hasHistory, isWide, t, text],
  );
}

/** Cell with the avatar, name, matching fields and badges of a member. */
function PersonCell(props: {
  person: Member;
  text: string;

  /** Whether to show the member's local time. */
  showsTime: boolean;
}) {
  const { person, text, showsTime } = props;
  const { username, human_name } = person;
  const timezone = knownTimeZone(person.timezone);
  return (
    <Cell>
      <span className={styles.person}>
        <ColoredAvatar username={username} name={human_name} size="medium" />
        <span className={styles.name}>
          <PersonLink username={username} weight="bold">
            <DirectoryText value={human_name ?? username} mark={text} />
          </PersonLink>
          {human_name && (
            <Text as="p" variant="body-small" color="secondary">
              <DirectoryText value={username} mark={text} />
            </Text>
          )}
          {showsTime && timezone && (
            <Text as="p" variant="body-small">
              <LocalTime timeZone={timezone} form="brief" />
            </Text>
          )}
          <Matches person={person} text={text} />
          <PersonBadges person={person} />
        </span>
      </span>
    </Cell>
  );
}

/** Whether a membership is direct or inherited, with the path. */
function Membership(props: { groupname: string; member: Member }) {
  const { groupname, member } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { username, human_name, direct, path } = member;
  return (
    <Flex align="center" gap="1" style={{ flexWrap: 'wrap' }}>
      <Text>
        {t(direct ? 'group.members.direct' : 'group.members.indirect')}
      </Text>
      {!direct && (
        <WhyButton
          name={human_name ?? username}
          groupname={groupname}
          path={path}
        />
      )}
    </Flex>
  );
}
