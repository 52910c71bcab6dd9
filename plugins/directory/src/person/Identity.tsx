import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Card, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import {
  RiBug2Line,
  RiChat3Line,
  RiEyeOffLine,
  RiGithubFill,
  RiGitlabFill,
  RiGlobalLine,
  RiHashtag,
  RiLockLine,
  RiMailLine,
  RiMessage3Line,
  RiRssLine,
  RiTimeLine,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import { ColoredAvatar } from '../components/Avatar';
import { CopyButton } from '../components/CopyButton';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { LinkList } from '../components/LinkList';
import { directoryTranslationRef } from '../translation';
import { type Contact, contactsOf } from './contactsOf';
import styles from './Identity.module.css';

/** Name, local time and contact links of a user. */
export function Identity(props: {
  person: User;

  /** Whether it is the user's own profile, which hides nothing from them. */
  isOwn: boolean;
}) {
  const { person, isOwn } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { username, human_name, pronouns, timezone } = person;
  const name = human_name ?? username;
  const joined = parseUtc(person.creation);

  return (
    <Card className={styles.card}>
      <div className={styles.who}>
        <ColoredAvatar username={username} name={human_name} size="portrait" />
        <div>
          <Text as="h2" variant="title-small" weight="bold">
            <DirectoryText value={name} />
          </Text>
          {pronouns && (
            <Text as="p" variant="body-medium" color="secondary">
              <DirectoryText value={pronouns.join(', ')} />
            </Text>
          )}
          <span className={styles.username}>
            <code>
              <DirectoryText value={username} />
            </code>
            <CopyButton value={username} label={t('person.copyUsername')} />
          </span>
        </div>
      </div>
      {person.locked && (
        <div>
          <Badge icon={<RiLockLine />} className={styles.locked}>
            {t('person.locked')}
          </Badge>
          <Text as="p" variant="body-small" color="secondary">
            {t('person.lockedHint')}
          </Text>
        </div>
      )}
      {person.is_private && !isOwn && (
        <div className={styles.private}>
          <RiEyeOffLine aria-hidden="true" />
          <Text as="p" variant="body-medium">
            {t('person.private', { name: <DirectoryText value={name} /> })}
          </Text>
        </div>
      )}
      {timezone && (
        <div className={styles.time}>
          <RiTimeLine aria-hidden="true" />
          <LocalTime timeZone={timezone} />
        </div>
      )}
      <ContactLinks person={person} />
      {joined && (
        <Text as="p" variant="body-small" color="secondary">
          {t('person.joined')} <DateTime value={joined} />
        </Text>
      )}
    </Card>
  );
}

const icons: Record<Contact['kind'], ReactElement> = {
  email: <RiMailLine />,
  matrix: <RiMessage3Line />,
  irc: <RiHashtag />,
  nick: <RiChat3Line />,
  github: <RiGithubFill />,
  gitlab: <RiGitlabFill />,
  website: <RiGlobalLine />,
  feed: <RiRssLine />,
  bugs: <RiBug2Line />,
};

/** The contact links of a user. */
function ContactLinks({ person }: { person: User }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const contacts = contactsOf(person);
  const name = person.human_name ?? person.username;
  if (contacts.length === 0) {
    return (
      <Text as="p" variant="body-small" color="secondary">
        {t('person.contact.none', { name: <DirectoryText value={name} /> })}
      </Text>
    );
  }
  return (
    <LinkList
      label={t('person.contact.title')}
      links={contacts.map(({ kind, text, href }) => ({
        kind: t(`person.contact.${kind}`),
        icon: icons[kind],
        text,
        href,
        copyLabel: t('person.copyValue', { value: visibleText(text) }),
      }))}
    />
  );
}
