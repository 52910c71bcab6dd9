import { type ReactNode, useId } from 'react';
import styles from './Choice.module.css';

/** Options of {@link Choice}. */
export interface ChoiceProps {
  /** Ties the choices of one question together. */
  name: string;
  title: string;
  description?: string;
  isChosen: boolean;
  onChoose: () => void;

  /** More to answer, once it is chosen. */
  children?: ReactNode;
}

/**
 * One of several ways, with what it means and what else it asks. Of native
 * radio buttons: those of `@backstage/ui` stand in one group, with no room for
 * further fields between them.
 */
export function Choice(props: ChoiceProps) {
  const { name, title, description, isChosen, onChoose, children } = props;
  const id = useId();
  return (
    <div className={styles.choice} data-chosen={isChosen || undefined}>
      <label className={styles.label}>
        <input
          type="radio"
          name={name}
          checked={isChosen}
          onChange={onChoose}
          aria-labelledby={`${id}-title`}
          aria-describedby={description && `${id}-description`}
        />
        <span>
          <span id={`${id}-title`} className={styles.title}>
            {title}
          </span>
          {description && (
            <span id={`${id}-description`} className={styles.description}>
              {description}
            </span>
          )}
        </span>
      </label>
      {isChosen && children && <div className={styles.more}>{children}</div>}
    </div>
  );
}
