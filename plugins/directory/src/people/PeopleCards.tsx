import styles from './PeopleCards.module.css';
import type { MatchedPerson } from './mergeMatches';
import { PersonCard } from './PersonCard';

/** People as cards, as many beside each other as there is room for. */
export function PeopleCards({ people }: { people: readonly MatchedPerson[] }) {
  return (
    <ul className={styles.cards}>
      {people.map(({ person, matches }) => (
        <li key={person.username} className={styles.card}>
          <PersonCard person={person} matches={matches} />
        </li>
      ))}
    </ul>
  );
}
