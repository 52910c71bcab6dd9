import { ErrorPanel } from '@backstage/core-components';
import {
  createFrontendModule,
  ErrorDisplay,
  type ErrorDisplayProps,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { SwappableComponentBlueprint } from '@backstage/plugin-app-react';
import { Alert, Button } from '@backstage/ui';
import { useEffect } from 'react';
import { portalTranslationRef } from './translation';

/** Whether code or styles of a page could not be loaded. */
function isLoadError(error: Error & { code?: unknown }): boolean {
  return (
    error.name === 'ChunkLoadError' || error.code === 'CSS_CHUNK_LOAD_FAILED'
  );
}

/** Storage key of the versions for which the page was reloaded, one per line. */
const KEY = 'portal:reloaded-versions';

/**
 * Reloads the page to load the current portal, at most once per version of the
 * portal in this tab. Does not reload while the server does not return the
 * page, nor while the page has unsaved input, such as a private key.
 */
async function reloadOnce(): Promise<void> {
  // The names of the scripts contain hashes.
  const scripts = document.querySelectorAll<HTMLScriptElement>('script[defer]');
  const version = [...scripts].map(({ src }) => src).join(' ');
  try {
    const versions = sessionStorage.getItem(KEY)?.split('\n') ?? [];
    const isUnsaved = !window.dispatchEvent(
      new Event('beforeunload', { cancelable: true }),
    );
    if (isUnsaved || versions.includes(version)) {
      return;
    }
    const { ok } = await fetch(window.location.href, {
      method: 'HEAD',
      cache: 'no-store',
    });
    if (!ok) {
      return;
    }
    sessionStorage.setItem(KEY, [...versions, version].join('\n'));
  } catch {
    return; // no connection, or no access to the storage
  }
  window.location.reload();
}

function PortalErrorDisplay(props: ErrorDisplayProps) {
  const { plugin, error, resetError } = props;
  const { t } = useTranslationRef(portalTranslationRef);
  const isOutdated = isLoadError(error);

  useEffect(() => {
    if (isOutdated) {
      reloadOnce();
    }
  }, [isOutdated]);

  return isOutdated ? (
    <Alert
      role="alert"
      status="warning"
      icon
      title={t('loadError.title')}
      description={t('loadError.description')}
      customActions={
        <Button
          size="small"
          variant="secondary"
          onPress={() => window.location.reload()}
        >
          {t('loadError.reload')}
        </Button>
      }
    />
  ) : (
    <ErrorPanel
      title={t('error.title', { plugin: plugin?.pluginId ?? 'app' })}
      error={error}
      defaultExpanded
    >
      <Button variant="secondary" onPress={resetError}>
        {t('error.retry')}
      </Button>
    </ErrorPanel>
  );
}

/**
 * Replaces the app's display of errors: when code of a page cannot be loaded,
 * because the portal was updated, the page is reloaded once.
 */
export const errorDisplayModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    SwappableComponentBlueprint.make({
      name: 'core-error-display',
      params: define =>
        define({ component: ErrorDisplay, loader: () => PortalErrorDisplay }),
    }),
  ],
});
