import { Text } from '@backstage/ui';
import { type ReactNode, useId } from 'react';
import styles from './Section.module.css';

/** Options of {@link Section}. */
export interface SectionProps {
  title: string;

  /** A word of explanation, or a number. */
  note?: ReactNode;

  /** Buttons at the right of the title. */
  actions?: ReactNode;

  children: ReactNode;
}

/** A part of a group's page under a heading of its own. */
export function Section({ title, note, actions, children }: SectionProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <div className={styles.header}>
        <div className={styles.title}>
          <Text as="h2" id={heading} variant="title-x-small" weight="bold">
            {title}
          </Text>
          {note && (
            <Text as="p" variant="body-medium" color="secondary">
              {note}
            </Text>
          )}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}
