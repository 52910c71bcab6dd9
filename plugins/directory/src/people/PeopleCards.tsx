import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Card, Skeleton, Text } from '@backstage/ui';
import { RiEyeOffLine, RiLockLine } from '@remixicon/react';
import { ColoredAvatar } from '../components/Avatar';
import { LocalTime } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { knownTimeZone } from '../components/timeZones';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './PeopleCards.module.css';
import type { FoundPerson } from './peopleQuery';
import { otherMatches } from './searchPeople';

/** Cards of users, in as many columns as fit. */
export function PeopleCards(props: {
  people: readonly FoundPerson[];
  text?: string;
}) {
  const { people, text } = props;
  return (
    <ul className={styles.cards}>
      {people.map(person => (
        <li key={person.username} className={styles.item}>
          <PersonCard person={person} text={text} />
        </li>
      ))}
    </ul>
  );
}

/** Card of a user with a link to the user's page. */
function PersonCard({ person, text }: { person: FoundPerson; text?: string }) {
  const href = useRouteRef(personRouteRef);
  const { username, human_name, pronouns } = person;
  const timezone = knownTimeZone(person.timezone);
  const name = human_name ?? username;

  return (
    <Card
      className={styles.card}
      href={href?.({ username }) ?? ''}
      label={visibleText(human_name ? `${human_name}, ${username}` : username)}
    >
      <div className={styles.layout}>
        <ColoredAvatar username={username} name={human_name} />
        <div className={styles.text}>
          <Text
            as="p"
            variant="body-large"
            weight="bold"
            truncate
            title={visibleText(name)}
          >
            <DirectoryText value={name} mark={text} />
          </Text>
          <Text as="p" variant="body-small" color="secondary" truncate>
            {[
              ...(human_name
                ? [<DirectoryText key="" value={username} mark={text} />]
                : []),
              ...(pronouns?.slice(0, 1) ?? []).map(value => (
                <DirectoryText key={value} value={value} />
              )),
            ].map((part, index) => (
              // eslint-disable-next-line react/no-array-index-key -- at most two parts
              <span key={index} className={styles.part}>
                {part}
              </span>
            ))}
          </Text>
          <Matches person={person} text={text} isTruncated />
          <PersonBadges person={person} />
        </div>
        {timezone && (
          <Text
            as="p"
            variant="body-small"
            color="secondary"
            className={styles.time}
          >
            <LocalTime timeZone={timezone} form="brief" />
          </Text>
        )}
      </div>
    </Card>
  );
}

/** Other fields that match a search text, with the words highlighted. */
export function Matches(props: {
  person: FoundPerson;

  /** Search text. Defaults to none. */
  text?: string;

  /** Whether to show each field in one line. Defaults to false. */
  isTruncated?: boolean;
}) {
  const { person, text = '', isTruncated } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <>
      {otherMatches(person, text).map(({ field, value }) => (
        <Text key={field} as="p" variant="body-small" truncate={isTruncated}>
          <span className={styles.field}>{t(`people.field.${field}`)}</span>{' '}
          <DirectoryText value={value} mark={text} />
        </Text>
      ))}
    </>
  );
}

/** Badges for a locked account and a private profile. */
export function PersonBadges({
  person,
}: {
  person: Pick<FoundPerson, 'is_private' | 'locked' | 'inGroup'>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!person.locked && !person.is_private) {
    return null;
  }
  return (
    <span className={styles.badges}>
      {person.locked && (
        <Badge icon={<RiLockLine />}>
          {t(person.inGroup ? 'people.lockedInGroup' : 'people.locked')}
        </Badge>
      )}
      {person.is_private && (
        <Badge icon={<RiEyeOffLine />}>{t('people.private')}</Badge>
      )}
    </span>
  );
}

export function CardsSkeleton({ count }: { count: number }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <div
      role="status"
      aria-label={t('states.loading')}
      className={styles.cards}
    >
      {Array.from({ length: count }, (_, index) => (
        // eslint-disable-next-line react/no-array-index-key -- cards are identical
        <Skeleton key={index} width="100%" height={68} />
      ))}
    </div>
  );
}
