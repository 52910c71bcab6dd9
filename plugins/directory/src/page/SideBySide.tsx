import type { ReactNode } from 'react';
import styles from './SideBySide.module.css';

/** Options of {@link SideBySide}. */
export interface SideBySideProps {
  /** Who or what the page is about: it stays in view at the left. */
  subject: ReactNode;

  /** What there is to say: at the right, or below on a narrow screen. */
  children: ReactNode;

  /** What is under way, while these are places for it only. */
  loadingLabel?: string;
}

/** The page of a person or a group: who it is beside what belongs to them. */
export function SideBySide(props: SideBySideProps) {
  const { subject, children, loadingLabel } = props;
  return (
    <div
      className={styles.columns}
      role={loadingLabel ? 'status' : undefined}
      aria-label={loadingLabel}
    >
      <div className={styles.subject}>{subject}</div>
      <div className={styles.details}>{children}</div>
    </div>
  );
}
