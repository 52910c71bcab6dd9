import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Card, Link, Skeleton, Text, TextField } from '@backstage/ui';
import { RiCheckLine, RiCloseLine, RiErrorWarningLine } from '@remixicon/react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useDirectoryQuery, useReader } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './IsMember.module.css';

/** Checks whether a user is a member, including nested groups. */
export function IsMember({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [typed, setTyped] = useState('');
  const [username, setUsername] = useState<string>();
  const answer = useIsMember(groupname, username);

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const wanted = typed.trim();
    if (wanted && wanted === username) {
      answer.refetch();
    }
    setUsername(wanted || undefined);
  }

  return (
    <Card className={styles.card}>
      <Text as="h2" variant="body-large" weight="bold">
        {t('group.isMember.title')}
      </Text>
      <form className={styles.form} onSubmit={handleSubmit}>
        <TextField
          aria-label={t('group.isMember.label')}
          placeholder={t('group.isMember.label')}
          size="small"
          autoComplete="off"
          spellCheck="false"
          value={typed}
          onChange={setTyped}
          className={styles.field}
        />
        <Button type="submit" size="small" variant="secondary">
          {t('group.isMember.ask')}
        </Button>
      </form>
      <div role="status" className={styles.answer}>
        {username ? (
          <Verdict username={username} answer={answer} />
        ) : (
          <YourMembership groupname={groupname} />
        )}
      </div>
    </Card>
  );
}

/** Shown before a user name is entered: the user's own membership. */
function YourMembership({ groupname }: { groupname: string }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const { data } = useIsMember(groupname, useReader() ?? undefined);
  if (data === undefined) {
    return null;
  }
  return (
    <Text variant="body-small" color="secondary">
      {t(data ? 'group.isMember.you' : 'group.isMember.notYou')}
    </Text>
  );
}

/** Result of the check, by icon and text, or the failure. */
function Verdict(props: { username: string; answer: UseQueryResult<boolean> }) {
  const { username, answer } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const { data, error } = answer;
  const name = <DirectoryText value={username} />;
  // The result may decide about access: an outdated one is not shown.
  if (error) {
    return (
      <Text as="p" className={styles.verdict} color="danger">
        <RiErrorWarningLine aria-hidden="true" />
        {t('group.isMember.failed')}
      </Text>
    );
  }
  if (data === undefined) {
    return <Skeleton width="80%" height={20} />;
  }
  return data ? (
    <>
      <Text as="p" className={styles.verdict} weight="bold">
        <RiCheckLine aria-hidden="true" />
        {t('group.isMember.yes', { username: name })}
      </Text>
      <Link href={href?.({ username }) ?? ''} variant="body-small" standalone>
        {t('group.isMember.profile', { username: name })}
      </Link>
    </>
  ) : (
    <>
      <Text as="p" className={styles.verdict} weight="bold">
        <RiCloseLine aria-hidden="true" />
        {t('group.isMember.no', { username: name })}
      </Text>
      <Text as="p" variant="body-small" color="secondary">
        {t('group.isMember.noHint')}
      </Text>
    </>
  );
}

/** Queries whether a user is a member; disabled without a user name. */
function useIsMember(groupname: string, username: string | undefined) {
  return useDirectoryQuery({
    key: ['is member', groupname, username],
    enabled: Boolean(username),
    load: async (client, signal) => {
      const { data } = await client.get(
        '/groups/{groupname}/is-member/{username}',
        { params: { path: { groupname, username: username! } }, signal },
      );
      return data.result;
    },
  });
}
