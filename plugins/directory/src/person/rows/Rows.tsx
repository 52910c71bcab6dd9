import { Box } from '@backstage/ui';
import type { ReactNode } from 'react';
import styles from './Rows.module.css';

/** A quiet list on a ground of its own; its items have the class `row`. */
export function Rows({ children }: { children: ReactNode }) {
  return (
    <Box as="ul" bg="neutral" className={styles.rows}>
      {children}
    </Box>
  );
}
