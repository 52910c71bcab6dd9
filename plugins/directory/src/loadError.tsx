import {
  PluginWrapperBlueprint,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { Alert, Button } from '@backstage/ui';
import { Component, type ReactNode, useEffect } from 'react';
import { directoryTranslationRef } from './translation';

/** Whether code or styles could not be loaded. */
function isLoadError(error: Error & { code?: unknown }): boolean {
  return (
    error.name === 'ChunkLoadError' || error.code === 'CSS_CHUNK_LOAD_FAILED'
  );
}

/** Storage key of the versions for which the page was reloaded, one per line. */
const KEY = 'directory.reloaded-versions';

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

/**
 * Description of an error for the error display of a portal. When code or
 * styles of a page could not be loaded, because the portal was updated, reloads
 * the page once per version of the portal, and shows a notice with a reload
 * button. Shows `children` for other errors.
 *
 * @public
 */
export function LoadErrorNotice(props: {
  error: Error;
  children?: ReactNode;
}): ReactNode {
  const { error, children } = props;
  const { t } = useTranslationRef(directoryTranslationRef);
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
      title={t('states.loadError')}
      description={t('states.loadErrorHint')}
      customActions={
        <Button
          size="small"
          variant="secondary"
          onPress={() => window.location.reload()}
        >
          {t('states.reload')}
        </Button>
      }
    />
  ) : (
    children
  );
}

/** Shows load errors of the plugin; the portal shows its other errors. */
class LoadErrorBoundary extends Component<{ children: ReactNode }> {
  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  state: { error?: Error } = {};

  render() {
    const { error } = this.state;
    if (!error) {
      return this.props.children;
    }
    if (!isLoadError(error)) {
      throw error;
    }
    return <LoadErrorNotice error={error} />;
  }
}

/**
 * Wraps the pages, cards and widgets of the plugin:
 * `plugin-wrapper:directory/load-error`.
 */
export const loadErrorWrapper = PluginWrapperBlueprint.make({
  name: 'load-error',
  params: define =>
    define({
      loader: async () => ({
        component: ({ children }) => (
          <LoadErrorBoundary>{children}</LoadErrorBoundary>
        ),
      }),
    }),
});
