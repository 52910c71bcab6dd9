import { KubernetesValidatorFunctions } from '@backstage/catalog-model';
import { InputError, NotFoundError } from '@backstage/errors';
import {
  type SignInInfo,
  type SignInResolver,
  type SignInResolverFactory,
  createSignInResolverFactory,
  readDeclarativeSignInResolver,
} from '@backstage/plugin-auth-node';
import { z } from 'zod/v3';
import type { CatalogUsers } from './CatalogUsers';
import type { DirectoryAccounts } from './DirectoryAccounts';
import { type Principal, SignInRefusal } from './Principal';
import { type Config, ConfigReader } from '@backstage/config';

/** Options of a resolver that takes the principal's name for the user's. */
interface NameOptions {
  /** Realms that are accepted in addition to the portal's own. */
  readonly foreignRealms: readonly string[];
  readonly accounts: DirectoryAccounts;
  readonly users: CatalogUsers;
}

const directoryUserOptions = z
  .object({
    namespace: z.string().min(1).optional(),
    realms: z.array(z.string().min(1)).min(1).optional(),
  })
  .strict();

const usernameOptions = directoryUserOptions.extend({
  dangerouslyAllowSignInWithoutUserInCatalog: z.boolean().optional(),
});

/**
 * Signs in users of the directory, with or without a user in the catalog; one
 * from a trusted location brings its groups.
 */
export function directoryUser(options: NameOptions) {
  return createSignInResolverFactory({
    optionsSchema: directoryUserOptions.optional(),
    create({ namespace, realms } = {}) {
      return async ({ result }: SignInInfo<Principal>, context) => {
        const name = await requireName({
          ...options,
          principal: result,
          realms,
        });
        const user = { namespace, name };
        const entity = await options.users.findByName(user);
        return options.users.issueToken({ user, entity, context });
      };
    },
  });
}

/** Signs in users of the directory who have a user of that name in the catalog. */
export function usernameMatchingUserEntityName(options: NameOptions) {
  return createSignInResolverFactory({
    optionsSchema: usernameOptions.optional(),
    create({
      namespace,
      realms,
      dangerouslyAllowSignInWithoutUserInCatalog: allowWithoutEntity,
    } = {}) {
      if (!allowWithoutEntity && !options.users.hasTrustedLocations) {
        throw new InputError(
          'usernameMatchingUserEntityName signs in users of the catalog, but directory.trustedLocations is not set: list the locations of their entities there, or use directoryUser',
        );
      }
      return async ({ result }: SignInInfo<Principal>, context) => {
        const name = await requireName({
          ...options,
          principal: result,
          realms,
        });
        const user = { namespace, name };
        const entity = await options.users.findByName(user);
        if (!entity && !allowWithoutEntity) {
          throw new NotFoundError('The catalog has no such trusted user');
        }
        return options.users.issueToken({ user, entity, context });
      };
    },
  });
}

/**
 * Returns the name of the user that a principal stands for: its own, never
 * changed into another, and that of the principal's live account.
 *
 * @throws NotFoundError when the realm's names do not count or there is no such
 * account, so that the next resolver is tried
 * @throws SignInRefusal when no entity can have that name, or the account is
 * locked or expired
 * @throws ServiceUnavailableError when the directory is unavailable
 */
async function requireName(
  options: NameOptions & {
    readonly principal: Principal;
    /** Realms whose names count. Default: all but `foreignRealms`. */
    readonly realms?: readonly string[];
  },
): Promise<string> {
  const { principal, realms, foreignRealms, accounts } = options;
  const { name, realm } = principal;
  const counts = realms
    ? realms.includes(realm)
    : !foreignRealms.includes(realm);
  if (!counts) {
    throw new NotFoundError('Names of this realm do not count');
  }
  if (!KubernetesValidatorFunctions.isValidObjectName(name)) {
    throw new SignInRefusal('unusable_name');
  }
  const username = await accounts.requireUsable(principal);
  if (username.toLowerCase() !== name.toLowerCase()) {
    throw new NotFoundError('The account has another name');
  }
  return name;
}

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

/**
 * The annotation of a catalog user with their principal, including its realm:
 * `alice@EXAMPLE.TEST`. It counts only on entities from
 * `directory.trustedLocations`.
 *
 * @public
 */
export const KERBEROS_PRINCIPAL_ANNOTATION =
  'directory-gateway/kerberos-principal';

/** Signs in the catalog user whose annotation is the principal. */
export function principalMatchingUserEntityAnnotation(options: {
  readonly accounts: DirectoryAccounts;
  readonly users: CatalogUsers;
}) {
  const { accounts, users } = options;
  return createSignInResolverFactory({
    create() {
      return async ({ result }: SignInInfo<Principal>, context) => {
        const entity = await users.findByAnnotation(
          KERBEROS_PRINCIPAL_ANNOTATION,
          result.principal,
        );
        if (!entity) {
          throw new NotFoundError('The catalog has no such trusted user');
        }
        await accounts.requireUsable(result);
        return users.issueToken({ user: entity.metadata, entity, context });
      };
    },
  });
}
