import { Flex, Text } from '@backstage/ui';
import type { ReactElement, ReactNode } from 'react';
import styles from './states.module.css';

/** Options of {@link EmptyState}. */
export interface EmptyStateProps {
  /** A quiet picture. */
  icon?: ReactElement;

  /** What there is not. */
  title: ReactNode;

  /** Why, and what was looked for. */
  description?: ReactNode;

  /** What to do next: buttons and links. */
  actions?: ReactNode;
}

/** Says that there is nothing, why, and what to do next. */
export function EmptyState(props: EmptyStateProps) {
  const { icon, title, description, actions } = props;
  return (
    <Flex
      direction="column"
      align="center"
      gap="2"
      className={styles.state}
      role="status"
    >
      {icon && (
        <span className={styles.icon} aria-hidden="true">
          {icon}
        </span>
      )}
      <Text as="h2" variant="title-x-small" weight="bold">
        {title}
      </Text>
      {description && (
        <Text as="p" variant="body-medium" color="secondary">
          {description}
        </Text>
      )}
      {actions && <div className={styles.actions}>{actions}</div>}
    </Flex>
  );
}
