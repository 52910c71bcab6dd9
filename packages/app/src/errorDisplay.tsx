import { ErrorPanel } from '@backstage/core-components';
import {
  createFrontendModule,
  ErrorDisplay,
  type ErrorDisplayProps,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { SwappableComponentBlueprint } from '@backstage/plugin-app-react';
import { Button } from '@backstage/ui';
import { LoadErrorNotice } from '@directory-gateway/backstage-plugin-directory';
import { portalTranslationRef } from './translation';

function PortalErrorDisplay(props: ErrorDisplayProps) {
  const { plugin, error, resetError } = props;
  const { t } = useTranslationRef(portalTranslationRef);
  return (
    <LoadErrorNotice error={error}>
      <ErrorPanel
        title={t('error.title', { plugin: plugin?.pluginId ?? 'app' })}
        error={error}
        defaultExpanded
      >
        <Button variant="secondary" onPress={resetError}>
          {t('error.retry')}
        </Button>
      </ErrorPanel>
    </LoadErrorNotice>
  );
}

/**
 * Replaces the app's display of errors: when code of a page of any plugin
 * cannot be loaded, because the portal was updated, the page is reloaded once.
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
