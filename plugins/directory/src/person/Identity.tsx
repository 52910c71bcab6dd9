import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Card, Text } from '@backstage/ui';
import type { User } from '@directory-gateway/backstage-plugin-directory-common';
import { RiEyeOffLine, RiLockLine, RiTimeLine } from '@remixicon/react';
import { ColoredAvatar } from '../components/Avatar';
import { CopyButton } from '../components/CopyButton';
import { DateTime, LocalTime, parseUtc } from '../components/DateTime';
import { DirectoryText } from '../components/DirectoryText';
import { directoryTranslationRef } from '../translation';
import styles from './Identity.module.css';
import { ContactLinks } from './identity/ContactLinks';

/** Options of {@link Identity}. */
export interface IdentityProps {
  person: User;

  /** Whether it is the reader: their own profile hides nothing from them. */
  isOwn: boolean;
}

/** Who somebody is, what time it is for them, and how to reach them. */
export function Identity({ person, isOwn }: IdentityProps) {
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
