import {
  ApiBlueprint,
  coreApis,
  createFrontendModule,
} from '@backstage/frontend-plugin-api';
import { UserSettingsStorage } from '@backstage/plugin-user-settings';

/**
 * Stores user settings on the server, like
 * `@backstage/plugin-app-module-user-settings` but without signals: that module
 * requires the signals API, and `plugin-signals-backend` accepts WebSocket
 * frames of up to 100 MiB from every signed-in user. Changes made in another
 * browser appear after a reload.
 */
export const userSettingsStorage = createFrontendModule({
  pluginId: 'app',
  extensions: [
    ApiBlueprint.make({
      name: 'user-settings-storage',
      params: defineParams =>
        defineParams({
          api: coreApis.storage,
          deps: {
            discoveryApi: coreApis.discovery,
            errorApi: coreApis.error,
            fetchApi: coreApis.fetch,
            identityApi: coreApis.identity,
          },
          factory: deps => UserSettingsStorage.create(deps),
        }),
    }),
  ],
});
