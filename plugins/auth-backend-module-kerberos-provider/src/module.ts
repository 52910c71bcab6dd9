import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { authProvidersExtensionPoint } from '@backstage/plugin-auth-node';
import {
  kerberosServiceRef,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import { createKerberosProvider } from './createKerberosProvider';
import { DirectoryAccounts } from './DirectoryAccounts';

/**
 * Registers the auth provider `kerberos`: `/api/auth/kerberos/refresh` gives
 * the holder of a ticket an identity of the portal, by the resolvers of
 * `auth.providers.kerberos.signIn`.
 *
 * @public
 */
export const authModuleKerberosProvider = createBackendModule({
  pluginId: 'auth',
  moduleId: 'kerberos-provider',
  register(env) {
    env.registerInit({
      deps: {
        auth: coreServices.auth,
        config: coreServices.rootConfig,
        discovery: coreServices.discovery,
        kerberos: kerberosServiceRef,
        providers: authProvidersExtensionPoint,
      },
      async init({ auth, config, discovery, kerberos, providers }) {
        providers.registerProvider({
          providerId: 'kerberos',
          factory: createKerberosProvider({
            kerberos,
            accounts: new DirectoryAccounts({ auth, discovery }),
            foreignRealms: readKerberosConfig(config).realms,
          }),
        });
      },
    });
  },
});
