import { isError } from '@backstage/errors';
import type { AuthProviderFactory } from '@backstage/plugin-auth-node';
import type { KerberosService } from '@directory-gateway/kerberos';
import type { DirectoryAccounts } from './DirectoryAccounts';
import { KerberosRouteHandlers } from './KerberosRouteHandlers';
import { MisconfiguredRouteHandlers } from './MisconfiguredRouteHandlers';
import { requireSecureTransport } from './requireSecureTransport';
import { createSignInResolver } from './resolvers/createSignInResolver';

/**
 * The provider `kerberos`. Never throws: a wrong configuration is logged, and
 * answered 503.
 */
export function createKerberosProvider(options: {
  readonly kerberos: KerberosService;
  readonly accounts: DirectoryAccounts;
  /** Realms that are accepted beside the portal's own. */
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
        ...{ kerberos, signInResolver, resolverContext },
        ...{ isOriginAllowed, logger },
      });
    } catch (error) {
      const { message } = isError(error) ? error : { message: String(error) };
      logger.error(
        `auth.providers.kerberos is wrong, nobody can sign in with a ticket: ${message}`,
      );
      return new MisconfiguredRouteHandlers();
    }
  };
}
