import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button, Card, Text, TextField } from '@backstage/ui';
import { type FormEvent, useState } from 'react';
import { useReader } from '../api/useDirectoryQuery';
import { directoryTranslationRef } from '../translation';
import styles from './IsMember.module.css';
import { useIsMember } from './isMember/useIsMember';
import { Verdict } from './isMember/Verdict';

/** Asks by a user name whether somebody is a member, nested groups included. */
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

/** Before anybody is asked for: what most readers want to know. */
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
