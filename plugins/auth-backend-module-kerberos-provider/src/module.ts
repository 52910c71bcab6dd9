import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import type { Config } from '@backstage/config';
import { authProvidersExtensionPoint } from '@backstage/plugin-auth-node';
import { catalogServiceRef } from '@backstage/plugin-catalog-node';
import { TrustedLocations } from '@directory-gateway/backstage-plugin-directory-node';
import {
  kerberosServiceRef,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import { CatalogUsers } from './CatalogUsers';
import { createKerberosProvider } from './createKerberosProvider';
import { DirectoryAccounts } from './DirectoryAccounts';

const RESOLVERS = 'auth.providers.kerberos.signIn.resolvers';

/**
 * Registers the auth provider `kerberos`: `/api/auth/kerberos/refresh` returns
 * a portal token for a Kerberos ticket, by the resolvers of
 * `auth.providers.kerberos.signIn`. Start fails when these take identities from
 * the catalog that users can write themselves.
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
        catalog: catalogServiceRef,
        config: coreServices.rootConfig,
        discovery: coreServices.discovery,
        kerberos: kerberosServiceRef,
        logger: coreServices.logger,
        providers: authProvidersExtensionPoint,
      },
      async init(deps) {
        const { auth, catalog, config, discovery, kerberos, logger } = deps;
        const { realm, realms } = readKerberosConfig(config);
        deps.providers.registerProvider({
          providerId: 'kerberos',
          factory: createKerberosProvider({
            kerberos,
            accounts: new DirectoryAccounts({ auth, discovery }),
            users: new CatalogUsers({
              auth,
              catalog,
              logger,
              trustedLocations: readTrustedLocations(config),
            }),
            foreignRealms: realms.filter(listed => listed !== realm),
          }),
        });
      },
    });
  },
});

/** @throws InputError when the configured resolvers need trusted locations */
function readTrustedLocations(config: Config): TrustedLocations {
  const trustedLocations = TrustedLocations.fromConfig(config);
  const resolvers = (config.getOptionalConfigArray(RESOLVERS) ?? []).map(
    resolver => resolver.getOptionalString('resolver'),
  );
  if (resolvers.includes('principalMatchingUserEntityAnnotation')) {
    trustedLocations.requireForAnnotations({ config, usedBy: RESOLVERS });
  }
  return trustedLocations;
}
