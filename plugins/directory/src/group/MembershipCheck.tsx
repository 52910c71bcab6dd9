import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Link, Skeleton, Text, TextField } from '@backstage/ui';
import { RiCheckLine, RiCloseLine, RiErrorWarningLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { isSessionEnded } from '../api/directoryApi';
import { useCurrentUser, useDirectoryQuery } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { PersonLink } from '../components/EntryLink';
import { SubjectCard } from '../page/DirectoryPage';
import { PAGE_SIZE } from '../page/Pagination';
import { FailureAlert } from '../page/states';
import { NO_FILTERS } from '../people/peopleQuery';
import { findPerson, searchPeopleByText } from '../people/searchPeople';
import { WhyButton } from '../person/GroupsTab';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './MembershipCheck.module.css';

/** Form that checks whether a user is a member, including nested groups. */
export function MembershipCheck(props: {
  groupname: string;

  /** The user to check. Defaults to none. */
  username: string | undefined;
  onUsername: (username: string | undefined) => void;
}) {
  const { groupname, username, onUsername } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState(username ?? '');
  const query = useMembership(groupname, username);
  const form = useRef<HTMLFormElement>(null);

  function choose(suggestion: string) {
    // The button of the suggestion disappears.
    form.current?.querySelector('input')?.focus();
    setTyped(suggestion);
    onUsername(suggestion);
  }

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const next = typed.trim();
    if (next && next === username) {
      query.refetch();
    }
    onUsername(next || undefined);
  }

  return (
    <SubjectCard>
      <Text as="h2" variant="body-large" weight="bold">
        {t('group.membership.title')}
      </Text>
      <form ref={form} className={styles.form} onSubmit={handleSubmit}>
        <TextField
          aria-label={t('group.membership.label')}
          placeholder={t('group.membership.label')}
          size="small"
          autoComplete="off"
          spellCheck="false"
          value={typed}
          onChange={setTyped}
          className={styles.field}
        />
        <Button type="submit" size="small" variant="secondary">
          {t('group.membership.check')}
        </Button>
      </form>
      <div role="status" className={styles.status}>
        {username ? (
          <MembershipResult
            groupname={groupname}
            username={username}
            query={query}
            onChoose={choose}
          />
        ) : (
          <YourMembership groupname={groupname} />
        )}
      </div>
    </SubjectCard>
  );
}

/** Shown before a user name is entered: the user's own membership. */
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

  /** Called with the name of a suggested user. */
  onChoose: (username: string) => void;
}) {
  const { groupname, username, query, onChoose } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data, error } = query;
  // Users may base access decisions on the result, so a stale one is not shown.
  if (error) {
    return <Failure error={error} onRetry={query.refetch} />;
  }
  if (data === undefined) {
    return <Skeleton width="80%" height={20} />;
  }
  if (data === 'no') {
    return <NotMember username={username} onChoose={onChoose} />;
  }
  return (
    <>
      <ResultText
        icon={
          data === 'yes' ? (
            <RiCheckLine aria-hidden="true" />
          ) : (
            <RiCloseLine aria-hidden="true" />
          )
        }
      >
        {t(`group.membership.${data}`, {
          username: <DirectoryText value={username} />,
        })}
      </ResultText>
      {data === 'yes' && (
        <InheritedFrom groupname={groupname} username={username} />
      )}
      <ProfileLink username={username} />
    </>
  );
}

/** The result as an icon and a text. */
function ResultText(props: { icon: ReactNode; children: ReactNode }) {
  return (
    <Text as="p" className={styles.result} weight="bold">
      {props.icon}
      <span>{props.children}</span>
    </Text>
  );
}

function ProfileLink({ username }: { username: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <PersonLink username={username} variant="body-small">
      {t('group.membership.profile', {
        username: <DirectoryText value={username} />,
      })}
    </PersonLink>
  );
}

function Failure(props: { error: unknown; onRetry: () => void }) {
  const { error, onRetry } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return isSessionEnded(error) ? (
    <FailureAlert error={error} onRetry={onRetry} />
  ) : (
    <Text as="p" className={styles.result} color="danger">
      <RiErrorWarningLine aria-hidden="true" />
      {t('group.membership.failed')}
    </Text>
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

/** Maximum number of suggested users. */
const MAX_SUGGESTIONS = 5;

/**
 * Reports that a user is not a member. For text that is not the name of a user,
 * suggests users instead.
 */
function NotMember(props: {
  username: string;
  onChoose: (username: string) => void;
}) {
  const { username, onChoose } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const people = useRouteRef(peopleRouteRef)?.() ?? '/';
  const { data, error, refetch } = useDirectoryQuery({
    key: ['user or suggestions', username],
    load: async (client, signal) => {
      if (await findPerson(client, { username, signal })) {
        return { isUser: true, suggestions: [] };
      }
      const search = {
        text: username,
        filters: NO_FILTERS,
        page: 1,
        pageSize: MAX_SUGGESTIONS,
        signal,
      };
      // The answer is known even if the search fails.
      const { people: suggestions } = await searchPeopleByText(
        client,
        search,
      ).catch(failure => {
        if (signal.aborted || isSessionEnded(failure)) {
          throw failure;
        }
        return { people: [] };
      });
      return { isUser: false, suggestions };
    },
  });
  if (error) {
    return <Failure error={error} onRetry={refetch} />;
  }
  if (data === undefined) {
    return <Skeleton width="80%" height={20} />;
  }
  const name = <DirectoryText value={username} />;
  return data.isUser ? (
    <>
      <ResultText icon={<RiCloseLine aria-hidden="true" />}>
        {t('group.membership.no', { username: name })}
      </ResultText>
      <ProfileLink username={username} />
    </>
  ) : (
    <>
      <Text as="p" variant="body-small">
        {t('group.membership.unknown', { username: name })}
      </Text>
      {data.suggestions.length > 0 && (
        <Text as="p" variant="body-small" weight="bold">
          {t('people.similar')}
        </Text>
      )}
      <ul className={styles.suggestions}>
        {data.suggestions.map(one => (
          <li key={one.username}>
            <Button
              size="small"
              variant="tertiary"
              onPress={() => onChoose(one.username)}
            >
              <DirectoryText
                value={
                  one.human_name
                    ? `${one.human_name} (${one.username})`
                    : one.username
                }
              />
            </Button>
          </li>
        ))}
      </ul>
      <Link
        href={`${people}?${new URLSearchParams({ q: username })}`}
        variant="body-small"
        standalone
      >
        {t('group.membership.search')}
      </Link>
    </>
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
