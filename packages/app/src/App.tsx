import { createApp } from '@backstage/frontend-defaults';
import catalogPlugin from '@backstage/plugin-catalog/alpha';
import notificationsPlugin from '@backstage/plugin-notifications/alpha';
import orgPlugin from '@backstage/plugin-org/alpha';
import userSettingsPlugin from '@backstage/plugin-user-settings/alpha';
import appModuleKerberosSignIn from '@directory-gateway/backstage-plugin-app-module-kerberos-sign-in';
import directoryPlugin from '@directory-gateway/backstage-plugin-directory';
import { navigationModule } from './navigation/navigationModule';
import { userSettingsStorage } from './userSettingsStorage';

/**
 * The portal: what it is made of, and nothing else. A page of a plugin listed
 * here finds its own way into the navigation by its title and icon.
 */
export const app = createApp({
  features: [
    navigationModule,
    appModuleKerberosSignIn,
    directoryPlugin,
    catalogPlugin,
    orgPlugin,
    notificationsPlugin,
    userSettingsPlugin,
    userSettingsStorage,
  ],
});
