import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Link, Text } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import {
  useCurrentUser,
  useDirectoryQuery,
  useMay,
} from '../api/useDirectoryQuery';
import { DateTime } from '../components/DateTime';
import { GroupLink } from '../components/EntryLink';
import { memberLink } from '../history/History';
import type { HistoryChange } from '../history/useHistory';
import { QueryPanel, Rows } from '../page/QueryPanel';
import rows from '../page/QueryPanel.module.css';
import { LoadingBlocks } from '../page/loading';
import {
  MembershipRow,
  type Memberships,
  SponsoredGroups,
  useMemberships,
} from '../person/GroupsTab';
import { groupsRouteRef, personRouteRef } from '../routes';
import { directoryTranslationRef, formatCount } from '../translation';
import styles from './home.module.css';
import { HomeSection, Note } from './HomeSection';

/** Maximum number of groups, of changes and of group histories to read. */
const MAX = 5;

/** The user's groups and the latest changes to their members. */
export function MyGroups() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const user = useCurrentUser();
  const username = user.data ?? '';
  return (
    <HomeSection
      title={t('home.groups.title')}
      href={useRouteRef(groupsRouteRef)?.() ?? '/'}
      linkText={t('home.groups.all')}
      query={useMemberships(username)}
      skeleton={<LoadingBlocks heights={Array(MAX).fill(52)} />}
      user={user}
      notMapped={t('home.groups.notMapped')}
    >
      {({ memberships, sponsoredOnly }) => {
        const shown = memberships.slice(0, MAX);
        const sponsored = sponsoredOnly.slice(0, MAX - shown.length);
        const total = memberships.length + sponsoredOnly.length;
        const more = total - shown.length - sponsored.length;
        return (
          <>
            {total === 0 && <Note>{t('home.groups.none')}</Note>}
            {shown.length > 0 && (
              <Rows>
                {shown.map(membership => (
                  <MembershipRow
                    key={membership.groupname}
                    name={username}
                    membership={membership}
                  />
                ))}
              </Rows>
            )}
            {sponsored.length > 0 && <SponsoredGroups groups={sponsored} />}
            {more > 0 && (
              <p className={styles.more}>
                <Link href={href?.({ username }) ?? ''} standalone>
                  {t('home.groups.more', formatCount(more))}
                </Link>
              </p>
            )}
            <Changes
              username={username}
              memberships={memberships}
              sponsoredOnly={sponsoredOnly}
            />
          </>
        );
      }}
    </HomeSection>
  );
}

/**
 * Changes to the user's memberships, and to the members of groups whose history
 * the user may read. Empty when there are none.
 */
function Changes(props: { username: string } & Memberships) {
  const { username, memberships, sponsoredOnly } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const mayReadAll = useMay('directory.history.read');
  const readable = memberships
    .filter(({ sponsor, direct }) => sponsor || (mayReadAll && direct))
    .map(({ groupname }) => groupname);
  const query = useChanges(username, [...sponsoredOnly, ...readable]);
  if (query.isPending || query.data?.length === 0) {
    return null;
  }
  return (
    <section className={styles.changes}>
      <Text as="h3" variant="body-medium" weight="bold">
        {t('home.changes.title')}
      </Text>
      <QueryPanel query={query} isSection>
        {changes => (
          <Rows>
            {changes.map(change => (
              <li key={keyOf(change)} className={rows.row}>
                <Text className={rows.text}>
                  <ChangeText change={change} username={username} />
                </Text>
                <Text variant="body-small" color="secondary">
                  <DateTime value={new Date(change.time)} />
                </Text>
              </li>
            ))}
          </Rows>
        )}
      </QueryPanel>
    </section>
  );
}

function ChangeText(props: { change: HistoryChange; username: string }) {
  const { change, username } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const what = change.kind === 'member_added' ? 'added' : 'removed';
  const group = <GroupLink groupname={change.groupname!} />;
  return change.username === username
    ? t(`home.changes.${what}You`, { group })
    : t(`home.changes.${what}`, { name: memberLink(change), group });
}

/**
 * Returns a key that identifies a change in the histories of both user and
 * group.
 */
function keyOf(change: HistoryChange): string {
  const { kind, time, groupname, username, member_groupname } = change;
  return [kind, time, groupname, username, member_groupname].join(' ');
}

/** Queries the latest membership changes; empty if histories are off. */
function useChanges(username: string, groupnames: readonly string[]) {
  const names = groupnames.slice(0, MAX);
  return useDirectoryQuery({
    key: ['group-changes', username, names],
    load: async (client, signal): Promise<HistoryChange[]> => {
      const query = { page_size: MAX };
      try {
        // Sent first, so that it is the only request if histories are off.
        const own = await client.get('/users/{username}/history/', {
          params: { path: { username }, query },
          signal,
        });
        const ofGroups = await Promise.all(
          names.map(groupname =>
            client.get('/groups/{groupname}/history/', {
              params: { path: { groupname }, query },
              signal,
            }),
          ),
        );
        const changes = [own, ...ofGroups]
          .flatMap(({ data }) => data.result)
          .filter(({ kind }) => /^member_(added|removed)$/.test(kind));
        return [...new Map(changes.map(one => [keyOf(one), one])).values()]
          .sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
          .slice(0, MAX);
      } catch (error) {
        // 404 without directory.changes.history; 403 if the user is no longer a
        // sponsor.
        if (
          isDirectoryResponseError(error) &&
          [403, 404].includes(error.status)
        ) {
          return [];
        }
        throw error;
      }
    },
  });
}
