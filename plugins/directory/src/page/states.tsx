import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button, type ButtonProps, Flex, Text } from '@backstage/ui';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
import { RiCloudOffLine } from '@remixicon/react';
import {
  type ReactElement,
  type ReactNode,
  useLayoutEffect,
  useRef,
} from 'react';
import { ACCOUNT_REASONS, isSessionEnded } from '../api/directoryApi';
import { retryDelay } from '../api/useDirectoryQuery';
import { DirectoryText } from '../components/DirectoryText';
import { locale } from '../language';
import { directoryTranslationRef } from '../translation';
import styles from './states.module.css';

/** Explains that there is nothing to show, why, and what to do next. */
export function EmptyState(props: {
  icon?: ReactElement;

  /** What is missing. */
  title: ReactNode;

  /** Reason, with the search text if any. */
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
 * Shown instead of content that could not be loaded: the server's message, the
 * time of the next retry, and a retry button.
 */
export function ErrorState(props: { error: unknown; onRetry: () => void }) {
  const { error, onRetry } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title, message, retry, requestId, action } = useErrorText(error);
  const lines = [
    ...new Set([
      message,
      retry ?? (isSessionEnded(error) ? undefined : t('states.notAffected')),
      requestId,
    ]),
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
      actions={<RetryButton onPress={onRetry}>{action}</RetryButton>}
    />
  );
}

/** Like {@link ErrorState}, in one line, for a section of a page. */
export function SectionError(props: { error: unknown; onRetry: () => void }) {
  const { error, onRetry } = props;
  const { title, retry, action } = useErrorText(error);
  return (
    <Alert
      role="status"
      status="warning"
      icon
      title={title}
      description={retry}
      customActions={
        <RetryButton size="small" variant="secondary" onPress={onRetry}>
          {action}
        </RetryButton>
      }
    />
  );
}

/**
 * Shown above data whose refresh failed: what failed, the age of the data, and
 * the time of the next retry.
 */
export function StaleNotice(props: {
  error: unknown;

  /** Time at which the data was loaded, in milliseconds since the epoch. */
  loadedAt: number;
  onRetry: () => void;
}) {
  const { error, loadedAt, onRetry } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title, retry, action } = useErrorText(error);
  const time = new Date(loadedAt).toLocaleTimeString(locale(), {
    timeStyle: 'short',
  });

  return (
    <Alert
      role="status"
      status="warning"
      icon
      mb="4"
      title={title}
      description={[t('states.lastUpdated', { time }), retry]
        .filter(Boolean)
        .join(' ')}
      customActions={
        <RetryButton size="small" variant="secondary" onPress={onRetry}>
          {action}
        </RetryButton>
      }
    />
  );
}

/**
 * Shows the server's message about a failed action next to the form. If the
 * user must sign in again, a button repeats the action.
 */
export function FailureAlert(props: {
  error: unknown;
  onRetry: () => void;

  /** Why the action requires a new sign-in. Defaults to none. */
  signInAgain?: string;
}) {
  const { error, onRetry, signInAgain } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
  const { title, message, requestId } = useErrorText(error);
  return (
    <Alert
      role="alert"
      status="danger"
      icon
      title={signInAgain ?? title}
      description={
        signInAgain
          ? undefined
          : [message, requestId].filter(Boolean).join(' · ')
      }
      customActions={
        (signInAgain || isSessionEnded(error)) && (
          <RetryButton size="small" variant="secondary" onPress={onRetry}>
            {t('states.signInAgain')}
          </RetryButton>
        )
      }
    />
  );
}

/**
 * Button that repeats a request. It disappears when the request is sent or
 * succeeds; its focus then moves to the last heading, dialog or main landmark
 * before it that can be focused.
 */
function RetryButton(props: ButtonProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const button = ref.current!;
    return () => {
      if (button === document.activeElement) {
        const places = document.querySelectorAll<HTMLElement>(
          ':is(h1, h2, [role="dialog"], main)[tabindex="-1"]',
        );
        const isBefore = (place: Node) =>
          place.compareDocumentPosition(button) &
          Node.DOCUMENT_POSITION_FOLLOWING;
        [...places].findLast(isBefore)?.focus({ preventScroll: true });
      }
    };
  }, []);
  return <Button ref={ref} {...props} />;
}

/**
 * Returns the description of a failed request: what failed, the server's
 * message, the time of the next retry if any, the request ID, and the label of
 * the button that repeats the request.
 */
function useErrorText(error: unknown) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const response = isDirectoryResponseError(error) ? error : undefined;
  const delay = retryDelay(error);
  const id = response?.body?.request_id;

  if (isSessionEnded(error)) {
    return {
      title: t('states.sessionEnded'),
      message: t('states.sessionEndedHint'),
      action: t('states.signInAgain'),
    };
  }
  const title = () => {
    if (!response) {
      return t('states.portalUnreachable');
    }
    const { status, body } = response;
    if (status === 503 || status === 504) {
      return t('states.directoryUnavailable');
    }
    const known = ACCOUNT_REASONS.find(reason => reason === body?.reason);
    if (known) {
      return t(`states.${known}`);
    }
    return t(status === 403 ? 'states.forbidden' : 'states.failed');
  };
  return {
    title: title(),
    message: response?.message,
    retry:
      delay === undefined
        ? undefined
        : t('states.retryIn', {
            delay: Math.round(delay / 1000).toLocaleString(locale(), {
              style: 'unit',
              unit: 'second',
              unitDisplay: 'long',
            }),
          }),
    requestId: id && t('states.requestId', { id }),
    action: t('states.retry'),
  };
}
