import { forwardRef, type KeyboardEvent, type ReactNode } from 'react';
import styles from './Results.module.css';

/** Options of {@link Results}. */
export interface ResultsProps {
  /** Whether others are under way: then these are dimmed, and stay. */
  isBusy: boolean;

  /** Whether these are dimmed for another reason. Defaults to false. */
  isOld?: boolean;

  /** Arrow keys between them, for those that have none of their own. */
  onKeyDown?: (event: KeyboardEvent) => void;

  children: ReactNode;
}

/** What a search brought: it stays in place while something else is asked. */
export const Results = forwardRef<HTMLDivElement, ResultsProps>(
  ({ isBusy, isOld = false, onKeyDown, children }, ref) => (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- arrow keys only add to what its links do
    <div
      ref={ref}
      onKeyDown={onKeyDown}
      aria-busy={isBusy}
      className={isBusy || isOld ? styles.old : undefined}
    >
      {children}
    </div>
  ),
);
