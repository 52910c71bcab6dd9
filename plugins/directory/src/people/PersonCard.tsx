import { useRouteRef, useTranslationRef } from '@backstage/frontend-plugin-api';
import { Card, Text } from '@backstage/ui';
import { ColoredAvatar } from '../components/Avatar';
import { LocalTime } from '../components/DateTime';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { personRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import type { MatchedPerson } from './mergeMatches';
import { PersonBadges } from './PersonBadges';
import styles from './PersonCard.module.css';

/** Somebody in the results, as a card that leads to them. */
export function PersonCard({ person, matches }: MatchedPerson) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const href = useRouteRef(personRouteRef);
  const { username, human_name, pronouns, timezone } = person;
  const name = human_name ?? username;
  const markIn = (field: string, value: string) => {
    const match = matches.find(one => one.field === field);
    return <DirectoryText value={value} mark={match?.text} />;
  };
  const elsewhere = matches.filter(
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
        <div className={styles.words}>
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
          {elsewhere.map(({ field, value, text }) => (
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
