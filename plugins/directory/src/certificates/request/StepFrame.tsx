import { Text } from '@backstage/ui';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './StepFrame.module.css';

/** Options of {@link StepFrame}. */
export interface StepFrameProps {
  title: string;
  children: ReactNode;

  /** Buttons: the way on, and the way back. */
  actions?: ReactNode;
}

/**
 * A step under its heading, which takes the focus when the step comes, so that
 * the keyboard and screen readers start at the top of it.
 */
export function StepFrame({ title, children, actions }: StepFrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  return (
    <div className={styles.step}>
      <Text
        as="h2"
        ref={heading}
        tabIndex={-1}
        variant="title-x-small"
        weight="bold"
        className={styles.title}
      >
        {title}
      </Text>
      {children}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
