import { Text } from '@backstage/ui';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './StepFrame.module.css';

/** Options of {@link StepFrame}. */
export interface StepFrameProps {
  title: string;
  children: ReactNode;

  /** Whether it has room for two columns. Defaults to false. */
  isWide?: boolean;

  /** Buttons: the way on, and the way back. */
  actions?: ReactNode;
}

/**
 * A step under its heading, which takes the focus when the step comes, so that
 * the keyboard and screen readers start at the top of it.
 */
export function StepFrame(props: StepFrameProps) {
  const { title, children, isWide = false, actions } = props;
  const heading = useRef<HTMLHeadingElement>(null);

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  return (
    <div className={styles.step} data-wide={isWide || undefined}>
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
