import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Skeleton, Text } from '@backstage/ui';
import { RiCheckLine, RiCloseLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useCurrentUser, useDirectoryQuery } from '../api/useDirectoryQuery';
import { visibleText } from '../components/DirectoryText';
import { PersonLink } from '../components/EntryLink';
import { SubjectCard } from '../page/DirectoryPage';
import { PAGE_SIZE } from '../page/Pagination';
import { SearchPicker } from '../page/SearchPicker';
import { SectionError } from '../page/states';
import { NO_FILTERS } from '../people/peopleQuery';
import { searchPeopleByText } from '../people/searchPeople';
import { WhyButton } from '../person/GroupsTab';
import { directoryTranslationRef } from '../translation';
import styles from './MembershipCheck.module.css';

/** Maximum number of suggested users. */
const MAX_SUGGESTIONS = 5;

/** Checks whether a user is a member, including nested groups. */
export function MembershipCheck(props: {
  groupname: string;

  /** The user to check. Defaults to none. */
  username: string | undefined;
  onUsername: (username: string) => void;
}) {
  const { groupname, username, onUsername } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const query = useMembership(groupname, username);
  return (
    <SubjectCard>
      <Text as="h2" variant="body-large" weight="bold">
        {t('group.membership.title')}
      </Text>
      <SearchPicker
        kind="users"
        label={t('group.membership.label')}
        placeholder={t('group.members.placeholder')}
        onPick={picked => {
          if (picked === username) {
            query.refetch();
          }
          onUsername(picked);
        }}
        load={async (client, text, signal) => {
          const { people } = await searchPeopleByText(client, {
            text,
            filters: NO_FILTERS,
            page: 1,
            pageSize: MAX_SUGGESTIONS,
            signal,
          });
          return people.map(person => ({
            id: person.username,
            label: visibleText(person.human_name ?? person.username),
            description: visibleText(person.username),
          }));
        }}
      />
      <div role="status" className={styles.status}>
        {username ? (
          <MembershipResult
            groupname={groupname}
            username={username}
            query={query}
          />
        ) : (
          <YourMembership groupname={groupname} />
        )}
      </div>
    </SubjectCard>
  );
}

/** Shown before a user is chosen: the user's own membership. */
function YourMembership({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data } = useMembership(groupname, useCurrentUser().data ?? undefined);
  if (data === undefined) {
    return null;
  }
  return (
    <Text variant="body-small" color="secondary">
      {t(data === 'yes' ? 'group.membership.you' : 'group.membership.notYou')}
    </Text>
  );
}

/** Result of the check, or an error. */
function MembershipResult(props: {
  groupname: string;
  username: string;
  query: UseQueryResult<MembershipState>;
}) {
  const { groupname, username, query } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error, refetch } = query;
  // Users may base access decisions on the result, so a stale one is not shown.
  if (error) {
    return <SectionError error={error} onRetry={refetch} />;
  }
  if (data === undefined) {
    return <Skeleton width="80%" height={20} />;
  }
  const Icon = data === 'yes' ? RiCheckLine : RiCloseLine;
  return (
    <>
      <Text as="p" className={styles.result} weight="bold">
        <Icon aria-hidden="true" />
        <span>
          {t(`group.membership.${data}`, {
            username: <PersonLink username={username} weight="bold" />,
          })}
        </span>
      </Text>
      {data === 'yes' && (
        <InheritedFrom groupname={groupname} username={username} />
      )}
    </>
  );
}

/** Explains an inherited membership. */
function InheritedFrom(props: { groupname: string; username: string }) {
  const { groupname, username } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data: membership } = useDirectoryQuery({
    key: ['membership', groupname, username],
    load: async (client, signal) => {
      // Users with a value that equals the text come first: this one, and those
      // with this chat nick, for example.
      const { data } = await client.get('/groups/{groupname}/memberships/', {
        params: {
          path: { groupname },
          query: { q: username, page_size: PAGE_SIZE },
          header: { 'X-Fields': 'username,direct,path' },
        },
        signal,
      });
      const wanted = username.toLowerCase();
      return (
        data.result.find(one => one.username?.toLowerCase() === wanted) ?? null
      );
    },
  });
  if (!membership?.path || membership.direct) {
    return null;
  }
  return (
    <Text as="p" variant="body-small">
      {t('group.membership.inherited')}{' '}
      <WhyButton name={username} groupname={groupname} path={membership.path} />
    </Text>
  );
}

/**
 * Whether a user is a member. A locked account in the group is not a member.
 */
type MembershipState = 'yes' | 'locked' | 'no';

/** Queries whether a user is a member; disabled without a user name. */
export function useMembership(groupname: string, username: string | undefined) {
  return useDirectoryQuery({
    key: ['is member', groupname, username],
    enabled: Boolean(username),
    load: async (client, signal): Promise<MembershipState> => {
      const { data } = await client.get(
        '/groups/{groupname}/is-member/{username}',
        { params: { path: { groupname, username: username! } }, signal },
      );
      if (data.result) {
        return 'yes';
      }
      const found = await client.get('/search/users/', {
        params: {
          header: { 'X-Fields': 'locked' },
          query: { username__exact: username, group: [groupname] },
        },
        signal,
      });
      return found.data.result.some(({ locked }) => locked) ? 'locked' : 'no';
    },
  });
}
