import { ConfigReader, type Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  createSignInResolverFactory,
  readDeclarativeSignInResolver,
  type SignInResolver,
  type SignInResolverFactory,
} from '@backstage/plugin-auth-node';
import type { CatalogUsers } from './CatalogUsers';
import type { DirectoryAccounts } from './DirectoryAccounts';
import type { Principal } from './Principal';
import { SignInRefusal } from './SignInRefusal';
import { directoryUser, usernameMatchingUserEntityName } from './resolvers';
import { principalMatchingUserEntityAnnotation } from './principalMatchingUserEntityAnnotation';

/** The last resolver: refuses users that no other resolver knows. */
const stranger = createSignInResolverFactory({
  create() {
    return async () => {
      throw new SignInRefusal('unknown_principal');
    };
  },
});

/**
 * Reads `auth.providers.kerberos.signIn`.
 *
 * @throws Error that names the resolver or the key at fault
 */
export function createSignInResolver(options: {
  /** The block `auth.providers.kerberos`. */
  readonly config: Config;
  /** Realms that are accepted in addition to the portal's own. */
  readonly foreignRealms: readonly string[];
  readonly accounts: DirectoryAccounts;
  readonly users: CatalogUsers;
}): SignInResolver<Principal> {
  const { config, ...nameOptions } = options;
  const offered: Readonly<Record<string, SignInResolverFactory>> = {
    principalMatchingUserEntityAnnotation:
      principalMatchingUserEntityAnnotation(nameOptions),
    usernameMatchingUserEntityName: usernameMatchingUserEntityName(nameOptions),
    directoryUser: directoryUser(nameOptions),
  };
  const configured = config.getOptionalConfigArray('signIn.resolvers') ?? [];
  const resolvers = [
    ...configured.map(resolver => resolver.get()),
    { resolver: 'stranger' },
  ];
  const resolver = readDeclarativeSignInResolver<Principal>({
    config: new ConfigReader({ signIn: { resolvers } }),
    signInResolverFactories: { ...offered, stranger },
  });
  if (!resolver || configured.length === 0) {
    throw new InputError(
      `signIn.resolvers must list one of ${Object.keys(offered).join(', ')}`,
    );
  }
  return resolver;
}
