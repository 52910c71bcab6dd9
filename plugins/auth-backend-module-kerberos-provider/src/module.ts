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
import { isError } from '@backstage/errors';
import {
  KerberosRouteHandlers,
  MisconfiguredRouteHandlers,
} from './KerberosRouteHandlers';
import { createSignInResolver } from './resolvers';

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

/**
 * Creates the provider `kerberos`. It never throws: a wrong configuration is
 * logged, and every request gets 503.
 */
export function createKerberosProvider(options: {
  readonly kerberos: KerberosService;
  readonly accounts: DirectoryAccounts;
  readonly users: CatalogUsers;
  /** Realms that are accepted in addition to the portal's own. */
  readonly foreignRealms: readonly string[];
}): AuthProviderFactory {
  const { kerberos, ...resolverOptions } = options;
  return ({ config, baseUrl, isOriginAllowed, logger, resolverContext }) => {
    try {
      requireSecureTransport(baseUrl, 'backend.baseUrl');
      const signInResolver = createSignInResolver({
        config,
        ...resolverOptions,
      });
      return new KerberosRouteHandlers({
        kerberos,
        signInResolver,
        resolverContext,
        isOriginAllowed,
        logger,
      });
    } catch (error) {
      const { message } = isError(error) ? error : { message: String(error) };
      logger.error(
        `auth.providers.kerberos is misconfigured, so that users cannot sign in with Kerberos: ${message}`,
      );
      return new MisconfiguredRouteHandlers();
    }
  };
}
