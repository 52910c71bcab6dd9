import {
  ApiBlueprint,
  createFrontendModule,
  discoveryApiRef,
  errorApiRef,
  fetchApiRef,
  identityApiRef,
  storageApiRef,
} from '@backstage/frontend-plugin-api';
import { UserSettingsStorage } from '@backstage/plugin-user-settings';

/**
 * Stores user settings on the server, like
 * `@backstage/plugin-app-module-user-settings` but without signals: that module
 * requires the signals API, and `plugin-signals-backend` accepts WebSocket
 * frames of any size without credentials. Changes made in another browser
 * appear after a reload.
 */
export const userSettingsStorage = createFrontendModule({
  pluginId: 'app',
  extensions: [
    ApiBlueprint.make({
      name: 'user-settings-storage',
      params: defineParams =>
        defineParams({
          api: storageApiRef,
          deps: {
            discoveryApi: discoveryApiRef,
            errorApi: errorApiRef,
            fetchApi: fetchApiRef,
            identityApi: identityApiRef,
          },
          factory: deps => UserSettingsStorage.create(deps),
        }),
    }),
  ],
});
