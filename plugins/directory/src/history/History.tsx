import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Text } from '@backstage/ui';
import { RiHistoryLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { DateTime } from '../components/DateTime';
import { GroupLink, PersonLink } from '../components/EntryLink';
import { locale } from '../language';
import { Pagination } from '../page/Pagination';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import type { HistoryChange, HistoryPage } from './useHistory';

/** The history of a user or a group, newest change first. */
export function History(props: {
  kind: 'user' | 'group';
  query: UseQueryResult<HistoryPage>;
  page: number;
  onPage: (page: number) => void;
}) {
  const { kind, query, page, onPage } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <QueryPanel query={query}>
      {({ changes, total }) =>
        changes.length === 0 ? (
          <EmptyState icon={<RiHistoryLine />} title={t('history.none')} />
        ) : (
          <div>
            <Rows>
              {changes.map((change, index) => (
                <li key={index} className={rows.row}>
                  <Text className={rows.text}>
                    {kind === 'user' ? (
                      <UserChange change={change} />
                    ) : (
                      <GroupChange change={change} />
                    )}
                  </Text>
                  <Text color="secondary">
                    <DateTime value={new Date(change.time)}>
                      {new Date(change.time).toLocaleString(locale(), {
                        dateStyle: 'medium',
                        timeStyle: 'short',
                      })}
                    </DateTime>
                  </Text>
                </li>
              ))}
            </Rows>
            <Pagination page={page} total={total} onChange={onPage} />
          </div>
        )
      }
    </QueryPanel>
  );
}

function GroupChange({ change }: { change: HistoryChange }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  switch (change.kind) {
    case 'member_added':
    case 'member_removed':
      return t(`history.ofGroup.${change.kind}`, { name: memberLink(change) });
    case 'group_renamed':
      return t('history.ofGroup.group_renamed', {
        oldName: change.old_groupname!,
      });
    case 'members_changed':
      return t('history.ofGroup.members_changed');
    default:
      return t('history.ofGroup.group_created');
  }
}

function UserChange({ change }: { change: HistoryChange }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  switch (change.kind) {
    case 'member_added':
    case 'member_removed':
      return t(`history.ofUser.${change.kind}`, {
        name: <GroupLink groupname={change.groupname!} />,
      });
    case 'user_renamed':
      return t('history.ofUser.user_renamed', {
        oldName: change.old_username!,
      });
    default:
      return t('history.ofUser.user_created');
  }
}

/** Link to the user or group that a change added or removed. */
export function memberLink({ username, member_groupname }: HistoryChange) {
  return username === undefined ? (
    <GroupLink groupname={member_groupname!} />
  ) : (
    <PersonLink username={username} />
  );
}
