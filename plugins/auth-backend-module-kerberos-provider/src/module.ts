import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import type { Config } from '@backstage/config';
import {
  type AuthProviderFactory,
  authProvidersExtensionPoint,
} from '@backstage/plugin-auth-node';
import { catalogServiceRef } from '@backstage/plugin-catalog-node';
import {
  requireSecureTransport,
  TrustedLocations,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type KerberosService,
  kerberosServiceRef,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import { CatalogUsers } from './CatalogUsers';
import { DirectoryAccounts } from './DirectoryAccounts';
import { KerberosRouteHandlers } from './KerberosRouteHandlers';
import { type ResolverOptions, createSignInResolver } from './resolvers';

const RESOLVERS = 'auth.providers.kerberos.signIn.resolvers';

/**
 * Registers the auth provider `kerberos`: `/api/auth/kerberos/refresh` returns
 * a portal token for a Kerberos ticket, using the resolvers in
 * `auth.providers.kerberos.signIn`. The backend does not start if these are
 * invalid, or take identities from catalog entities that users can write
 * themselves.
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
        const { realm, realms } = readKerberosConfig(deps.config);
        const trustedLocations = readTrustedLocations(deps.config);
        deps.providers.registerProvider({
          providerId: 'kerberos',
          factory: createKerberosProvider({
            kerberos: deps.kerberos,
            accounts: new DirectoryAccounts(deps),
            users: new CatalogUsers({ ...deps, trustedLocations }),
            foreignRealms: realms.filter(listed => listed !== realm),
          }),
        });
      },
    });
  },
});

/**
 * @throws InputError when the configured resolvers require trusted locations
 *   that are not set
 */
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

/** Creates the `kerberos` provider. */
function createKerberosProvider(
  options: ResolverOptions & { readonly kerberos: KerberosService },
): AuthProviderFactory {
  return ({ config, baseUrl, isOriginAllowed, logger, resolverContext }) => {
    requireSecureTransport(baseUrl, 'backend.baseUrl');
    return new KerberosRouteHandlers({
      kerberos: options.kerberos,
      signInResolver: createSignInResolver({ ...options, config }),
      resolverContext,
      isOriginAllowed,
      logger,
    });
  };
}
