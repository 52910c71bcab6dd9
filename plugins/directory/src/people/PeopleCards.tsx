import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Badge, Card, Skeleton, Text } from '@backstage/ui';
import { RiEyeOffLine, RiLockLine } from '@remixicon/react';
import { ColoredAvatar } from '../components/Avatar';
import { LocalTime } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './PeopleCards.module.css';
import type { FoundPerson } from './peopleQuery';
import type { MatchedPerson } from './searchPeople';

/** Users as cards, in as many columns as fit. */
export function PeopleCards({ people }: { people: readonly MatchedPerson[] }) {
  return (
    <ul className={styles.cards}>
      {people.map(({ person, matches }) => (
        <li key={person.username} className={styles.item}>
          <PersonCard person={person} matches={matches} />
        </li>
      ))}
    </ul>
  );
}

/** Card of a user with a link to the user's page. */
function PersonCard({ person, matches }: MatchedPerson) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const { username, human_name, pronouns, timezone } = person;
  const name = human_name ?? username;
  const markIn = (field: string, value: string) => {
    const match = matches.find(one => one.field === field);
    return <DirectoryText value={value} mark={match?.text} />;
  };
  const otherMatches = matches.filter(
    ({ field }) => field !== 'username' && field !== 'human_name',
  );

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
            {human_name
              ? markIn('human_name', human_name)
              : markIn('username', username)}
          </Text>
          <Text as="p" variant="body-small" color="secondary" truncate>
            {[
              ...(human_name ? [markIn('username', username)] : []),
              ...(pronouns?.slice(0, 1) ?? []).map(value => (
                <DirectoryText key={value} value={value} />
              )),
            ].map((part, index) => (
              // eslint-disable-next-line react/no-array-index-key -- two parts
              <span key={index} className={styles.part}>
                {part}
              </span>
            ))}
          </Text>
          {otherMatches.map(({ field, value, text }) => (
            <Text key={field} as="p" variant="body-small" truncate>
              <span className={styles.field}>{t(`people.field.${field}`)}</span>{' '}
              <DirectoryText value={value} mark={text} />
            </Text>
          ))}
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

/** Badges of a locked account and a private profile. */
export function PersonBadges({
  person,
}: {
  person: Pick<FoundPerson, 'is_private' | 'locked'>;
}) {
  const { t } = useTranslationRef(directoryTranslationRef);
  if (!person.locked && !person.is_private) {
    return null;
  }
  return (
    <span className={styles.badges}>
      {person.locked && (
        <Badge icon={<RiLockLine />}>{t('people.locked')}</Badge>
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
        // eslint-disable-next-line react/no-array-index-key -- cards are alike
        <Skeleton key={index} width="100%" height={68} />
      ))}
    </div>
  );
}
