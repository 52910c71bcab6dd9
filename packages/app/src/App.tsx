import { createApp } from '@backstage/frontend-defaults';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import homePlugin from '@backstage/plugin-home/alpha';
import notificationsPlugin from '@backstage/plugin-notifications/alpha';
import orgPlugin from '@backstage/plugin-org/alpha';
import searchPlugin from '@backstage/plugin-search/alpha';
import userSettingsPlugin from '@backstage/plugin-user-settings/alpha';
import appModuleKerberosSignIn from '@directory-gateway/backstage-plugin-app-module-kerberos-sign-in';
import directoryPlugin from '@directory-gateway/backstage-plugin-directory';
import { errorDisplayModule } from './errorDisplay';
import { homeModule } from './home';
import { navigationModule } from './navigation';
import { notFoundModule } from './notFoundPage';
import { userSettingsStorage } from './userSettingsStorage';

/**
 * The portal as a list of features. The pages of these plugins appear in the
 * navigation with their titles and icons.
 */
export const app = createApp({
  features: [
    navigationModule,
    notFoundModule,
    errorDisplayModule,
    homePlugin,
    homeModule,
    appModuleKerberosSignIn,
    directoryPlugin,
    catalogPlugin,
    orgPlugin,
    notificationsPlugin,
    searchPlugin,
    userSettingsPlugin,
    userSettingsStorage,
  ],
});
