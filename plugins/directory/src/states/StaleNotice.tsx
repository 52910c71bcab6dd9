import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Alert, Button } from '@backstage/ui';
import { directoryTranslationRef } from '../translation';
import { useFailureWords } from './useFailureWords';

/** Options of {@link StaleNotice}. */
export interface StaleNoticeProps {
  /** What was thrown by the last question. */
  error: unknown;

  /** When what is shown was loaded, in milliseconds since 1970. */
  loadedAt: number;

  /** Asks again. */
  onRetry: () => void;
}

/**
 * Above what was loaded before: what failed since, how old the page is, and
 * when it is tried again.
 */
export function StaleNotice({ error, loadedAt, onRetry }: StaleNoticeProps) {
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
