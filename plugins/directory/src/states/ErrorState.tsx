import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { Button } from '@backstage/ui';
import { RiCloudOffLine } from '@remixicon/react';
import { DirectoryText } from '../components/DirectoryText';
import { EmptyState } from '../page/states';
import { directoryTranslationRef } from '../translation';
import { useFailureWords } from './useFailureWords';

/** Options of {@link ErrorState}. */
export interface ErrorStateProps {
  /** What was thrown. */
  error: unknown;

  /** Asks again. */
  onRetry: () => void;
}

/**
 * In place of what could not be loaded: what failed, in the server's words,
 * when it is tried again, and a button that does it now.
 */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
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
