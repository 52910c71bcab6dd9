import { isError } from '@backstage/errors';
import type { AuthProviderFactory } from '@backstage/plugin-auth-node';
import type { KerberosService } from '@directory-gateway/kerberos';
import type { CatalogUsers } from './CatalogUsers';
import type { DirectoryAccounts } from './DirectoryAccounts';
import { KerberosRouteHandlers } from './KerberosRouteHandlers';
import { MisconfiguredRouteHandlers } from './MisconfiguredRouteHandlers';
import { requireSecureTransport } from './requireSecureTransport';
import { createSignInResolver } from './createSignInResolver';

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
      requireSecureTransport(baseUrl);
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
