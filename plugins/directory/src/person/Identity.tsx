import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, ButtonLink, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiEyeOffLine, RiLockLine, RiTimeLine } from '@remixicon/react';
import { ColoredAvatar } from '../components/Avatar';
import { CopyButton } from '../components/CopyButton';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import {
  type DirectoryLink,
  linkIcons,
  LinkList,
  useChatServers,
} from '../components/LinkList';
import { safeHref } from '../components/safeHref';
import { knownTimeZone } from '../components/timeZones';
import { SubjectCard } from '../page/DirectoryPage';
import { directoryTranslationRef } from '../translation';
import { contactsOf } from './contactsOf';
import styles from './Identity.module.css';

/** Contacts that receive messages. */
const MESSAGE_KINDS: ReadonlySet<DirectoryLink['kind']> = new Set([
  'email',
  'matrix',
  'irc',
]);

/** Name, local time and contact links of a user. */
export function Identity(props: {
  person: User;

  /** Whether it is the user's own profile, which shows all fields. */
  isOwn: boolean;
}) {
  const { person, isOwn } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const servers = useChatServers();
  const { username, human_name, pronouns } = person;
  const timezone = knownTimeZone(person.timezone);
  const name = human_name ?? username;
  const joined = parseUtc(person.creation);
  const contacts = contactsOf(person, servers);

  return (
    <SubjectCard>
      <div className={styles.identity}>
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
            {t('person.private')}
          </Text>
        </div>
      )}
      {timezone && (
        <div className={styles.time}>
          <RiTimeLine aria-hidden="true" />
          <LocalTime timeZone={timezone} />
        </div>
      )}
      {!isOwn && !person.locked && <MessageLink contacts={contacts} />}
      <LinkList
        label={t('person.contact.title')}
        links={contacts}
        empty={t('person.contact.none', {
          name: <DirectoryText value={name} />,
        })}
      />
      {joined && (
        <Text as="p" variant="body-small" color="secondary">
          {t('person.joined')} <DateTime value={joined} />
        </Text>
      )}
    </SubjectCard>
  );
}

/** Link to the first e-mail address or chat nick of a user. */
function MessageLink({ contacts }: { contacts: readonly DirectoryLink[] }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const contact = contacts.find(
    ({ kind, href = '' }) => MESSAGE_KINDS.has(kind) && safeHref(href),
  );
  const href = safeHref(contact?.href ?? '');
  if (!contact || !href) {
    return null;
  }
  return (
    <ButtonLink
      href={href}
      target={/^https?:/.test(href) ? '_blank' : undefined}
      rel="noopener noreferrer nofollow"
      iconStart={linkIcons[contact.kind]}
    >
      {t('person.message')}
    </ButtonLink>
  );
}
