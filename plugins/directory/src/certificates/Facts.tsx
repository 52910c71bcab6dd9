import { Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { DirectoryText } from '../components/DirectoryText';
import styles from './Facts.module.css';

/** A fact: what it is, and its value. */
export interface Fact {
  name: string;
  value: ReactNode;
}

/** Names at the left, values at the right; one above the other when narrow. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(({ name, value }) => (
        <div key={name} className={styles.fact}>
          <dt>
            <Text color="secondary">{name}</Text>
          </dt>
          <dd className={styles.value}>
            {typeof value === 'string' ? (
              <DirectoryText value={value} />
            ) : (
              value
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
