import { Box, Text } from '@backstage/ui';
import { type ReactNode, useId } from 'react';
import styles from './Part.module.css';

/** Options of {@link Part}. */
export interface PartProps {
  title: string;

  /** A word of explanation. */
  note?: string;

  children: ReactNode;
}

/** A part of a certificate under a heading of its own. */
export function Part({ title, note, children }: PartProps) {
  const heading = useId();
  return (
    <Box
      as="section"
      bg="neutral"
      className={styles.part}
      aria-labelledby={heading}
    >
      <Text as="h2" id={heading} variant="title-x-small" weight="bold">
        {title}
      </Text>
      {note && (
        <Text as="p" variant="body-small" color="secondary">
          {note}
        </Text>
      )}
      <div className={styles.content}>{children}</div>
    </Box>
  );
}
