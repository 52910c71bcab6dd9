import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, Container, Flex, Skeleton, Text } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCloudOffLine } from '@remixicon/react';
import type { ReactElement, ReactNode } from 'react';
import { retryDelay } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { directoryTranslationRef } from '../translation';
import styles from './states.module.css';

/** States that there is nothing, why, and what to do next. */
export function EmptyState(props: {
  /** Decorative icon. */
  icon?: ReactElement;

  /** States what is missing. */
  title: ReactNode;

  /** Reason, and the search that was made. */
  description?: ReactNode;

  /** Next steps: buttons and links. */
  actions?: ReactNode;
}) {
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

/**
 * Replaces content that could not be loaded: shows the server's message, when
 * the query is retried, and a button that retries it now.
 */
export function ErrorState(props: {
  /** Error of the query. */
  error: unknown;

  /** Retries the query. */
  onRetry: () => void;
}) {
  const { error, onRetry } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title, message, next, reference } = useFailureWords(error);
  const lines = [
    ...new Set([message, next ?? t('states.nothingLost'), reference]),
  ].filter(line => line && line !== title);

  return (
    <EmptyState
      icon={<RiCloudOffLine />}
      title={title}
      description={lines.map(line => (
        <span key={line} style={{ display: 'block' }}>
          <DirectoryText value={line!} />
        </span>
      ))}
      actions={<Button onPress={onRetry}>{t('states.again')}</Button>}
    />
  );
}

/** Shown while the code of a page is loading. */
export function PageSkeleton() {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Container>
      <Flex
        direction="column"
        gap="4"
        pt="4"
        role="status"
        aria-label={t('states.loading')}
      >
        <Skeleton height={40} width="100%" />
        <Skeleton height={240} width="100%" />
      </Flex>
    </Container>
  );
}

/**
 * Shown above data whose refresh failed: what failed, the age of the data, and
 * when the query is retried.
 */
export function StaleNotice(props: {
  /** Error of the last query. */
  error: unknown;

  /** Time at which the shown data was loaded, in milliseconds since 1970. */
  loadedAt: number;

  /** Retries the query. */
  onRetry: () => void;
}) {
  const { error, loadedAt, onRetry } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title, next } = useFailureWords(error);
  const time = new Date(loadedAt).toLocaleTimeString(undefined, {
    timeStyle: 'short',
  });

  return (
    <Alert
      role="status"
      status="warning"
      icon
      mb="4"
      title={title}
      description={[t('states.loadedAt', { time }), next]
        .filter(Boolean)
        .join(' ')}
      customActions={
        <Button size="small" variant="secondary" onPress={onRetry}>
          {t('states.again')}
        </Button>
      }
    />
  );
}

/** Texts that describe a failure. */
interface FailureWords {
  /** States what failed. */
  title: string;

  /** Message of the server, if any. */
  message: string | undefined;

  /** Time of the next retry; `undefined` when a retry would not help. */
  next: string | undefined;

  /** Identifies the request in the portal's logs. */
  reference: string | undefined;
}

/** Returns the texts that describe a failed query. */
function useFailureWords(error: unknown): FailureWords {
  const { t } = useTranslationRef(directoryTranslationRef);

  const delay = retryDelay(error);
  const next =
    delay === undefined
      ? undefined
      : t('states.triesAgain', {
          delay: Math.round(delay / 1000).toLocaleString(undefined, {
            style: 'unit',
            unit: 'second',
            unitDisplay: 'long',
          }),
        });

  if (!isDirectoryResponseError(error)) {
    return {
      title: t('states.portalAway'),
      message: undefined,
      next,
      reference: undefined,
    };
  }
  const title = () => {
    if (error.status === 503 || error.status === 504) {
      return t('states.directoryAway');
    }
    switch (error.body?.reason) {
      case 'unknown_principal':
        return t('states.unknownPrincipal');
      case 'account_locked':
        return t('states.accountLocked');
      case 'account_expired':
        return t('states.accountExpired');
      default:
        return error.status === 401 || error.status === 403
          ? t('states.refused')
          : t('states.failed');
    }
  };
  const id = error.body?.request_id;
  return {
    title: title(),
    message: error.message,
    next,
    reference: id && t('states.reference', { id }),
  };
}

/** Shows the server's message about a failed action beside the form. */
export function FailureAlert({ error }: { error: unknown }) {
  const { title, message, reference } = useFailureWords(error);
  return (
    <Alert
      role="alert"
      status="danger"
      icon
      title={title}
      description={[message, reference].filter(Boolean).join(' · ')}
    />
  );
}
