import { Box } from '@backstage/ui';
import type { ReactNode } from 'react';
import styles from './TableGround.module.css';

/** Gives a table the ground that cards have, and quiet lines. */
export function TableGround({ children }: { children: ReactNode }) {
  return (
    <Box bg="neutral" className={styles.ground}>
      {children}
    </Box>
  );
}
