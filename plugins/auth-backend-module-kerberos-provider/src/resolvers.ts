import {
  DEFAULT_NAMESPACE,
  KubernetesValidatorFunctions,
} from '@backstage/catalog-model';
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
import { type UserPrincipal, SignInRefusal } from './UserPrincipal';
import { type Config, ConfigReader } from '@backstage/config';

/**
 * Annotation with the principal of a catalog user, including the realm:
 * `alice@EXAMPLE.TEST`. Ignored on entities that are not from
 * `directory.trustedLocations`.
 *
 * @public
 */
export const KERBEROS_PRINCIPAL_ANNOTATION =
  'directory-gateway/kerberos-principal';

/** Dependencies of the resolvers. */
export interface ResolverOptions {
  /** Realms accepted in addition to the portal's own. */
  readonly foreignRealms: readonly string[];
  readonly accounts: DirectoryAccounts;
  readonly users: CatalogUsers;
}

const nameOptions = z
  .object({
    namespace: z.string().min(1).optional(),
    realms: z.array(z.string().min(1)).min(1).optional(),
  })
  .strict();

/**
 * Signs in directory users, with or without a catalog user. A catalog user from
 * a trusted location can have additional groups.
 */
function directoryUser(options: ResolverOptions) {
  return createSignInResolverFactory({
    optionsSchema: nameOptions.optional(),
    create: (settings = {}) =>
      resolveByName({ ...options, ...settings, requiresEntity: false }),
  });
}

/** Signs in directory users who have a catalog user with the same name. */
function usernameMatchingUserEntityName(options: ResolverOptions) {
  return createSignInResolverFactory({
    optionsSchema: nameOptions.optional(),
    create(settings = {}) {
      if (!options.users.hasTrustedLocations) {
        throw new InputError(
          'usernameMatchingUserEntityName signs in users of the catalog, but directory.trustedLocations is not set: list the locations of their entities there, or use directoryUser',
        );
      }
      return resolveByName({ ...options, ...settings, requiresEntity: true });
    },
  });
}

function resolveByName(
  options: ResolverOptions & {
    readonly namespace?: string;
    readonly realms?: readonly string[];
    /** Whether the user must be in the catalog. */
    readonly requiresEntity: boolean;
  },
): SignInResolver<UserPrincipal> {
  const { accounts, users, requiresEntity } = options;
  const { namespace = DEFAULT_NAMESPACE } = options;
  return async ({ result }, context) => {
    const name = await requireName({ ...options, principal: result });
    const user = { namespace, name };
    const entity = await users.findByName(user);
    if (!entity && requiresEntity) {
      throw new NotFoundError(
        'The catalog has no user with this name from a trusted location',
      );
    }
    const groupRefs = await accounts.groupRefsOf(name, { namespace });
    return users.issueToken({ user, groupRefs, entity, context });
  };
}

/**
 * Returns the user name of a principal's active account. After a rename, the old
 * principal is an alias of the account, which the API accepts as well.
 *
 * @throws NotFoundError when principals of the realm are not accepted or there
 *   is no such account; the next resolver is then tried
 * @throws SignInRefusal when the name is not a valid entity name, or the
 *   account is locked or expired
 * @throws ServiceUnavailableError when the directory is unavailable
 */
async function requireName(
  options: ResolverOptions & {
    readonly principal: UserPrincipal;
    /** Accepted realms. Default: all except `foreignRealms`. */
    readonly realms?: readonly string[];
  },
): Promise<string> {
  const { principal, realms, foreignRealms, accounts } = options;
  const { realm } = principal;
  const isAccepted = realms
    ? realms.includes(realm)
    : !foreignRealms.includes(realm);
  if (!isAccepted) {
    throw new NotFoundError('Principals of this realm are not accepted');
  }
  const username = await accounts.requireUsable(principal);
  if (!KubernetesValidatorFunctions.isValidObjectName(username)) {
    throw new SignInRefusal('unusable_name');
  }
  return username;
}

/**
 * Last resolver, which refuses principals that no other resolver accepts. The
 * directory does not serve most of the names that are not valid entity names.
 */
const unknownPrincipal = createSignInResolverFactory({
  create() {
    return async ({ result: { name } }: { readonly result: UserPrincipal }) => {
      throw new SignInRefusal(
        KubernetesValidatorFunctions.isValidObjectName(name)
          ? 'unknown_principal'
          : 'unusable_name',
      );
    };
  },
});

/**
 * Reads `auth.providers.kerberos.signIn`.
 *
 * @throws Error that names the invalid resolver or key
 */
export function createSignInResolver(
  options: ResolverOptions & {
    /** The `auth.providers.kerberos` block. */
    readonly config: Config;
  },
): SignInResolver<UserPrincipal> {
  const { config } = options;
  const offered: Readonly<Record<string, SignInResolverFactory>> = {
    principalMatchingUserEntityAnnotation:
      principalMatchingUserEntityAnnotation(options),
    usernameMatchingUserEntityName: usernameMatchingUserEntityName(options),
    directoryUser: directoryUser(options),
  };
  const configured = config.getOptionalConfigArray('signIn.resolvers') ?? [];
  const resolvers = [
    ...configured.map(resolver => resolver.get()),
    { resolver: 'unknownPrincipal' },
  ];
  const resolver = readDeclarativeSignInResolver<UserPrincipal>({
    config: new ConfigReader({ signIn: { resolvers } }),
    signInResolverFactories: { ...offered, unknownPrincipal },
  });
  if (!resolver || configured.length === 0) {
    throw new InputError(
      `signIn.resolvers must list one of ${Object.keys(offered).join(', ')}`,
    );
  }
  return resolver;
}

/** Signs in the catalog user whose annotation equals the principal. */
function principalMatchingUserEntityAnnotation({
  accounts,
  users,
}: ResolverOptions) {
  return createSignInResolverFactory({
    create() {
      return async ({ result }: SignInInfo<UserPrincipal>, context) => {
        const entity = await users.findByAnnotation(
          KERBEROS_PRINCIPAL_ANNOTATION,
          result.principal,
        );
        if (!entity) {
          throw new NotFoundError(
            'The catalog has no user with this annotation from a trusted location',
          );
        }
        const username = await accounts.requireUsable(result);
        const { namespace = DEFAULT_NAMESPACE } = entity.metadata;
        const groupRefs = await accounts.groupRefsOf(username, { namespace });
        return users.issueToken({
          user: entity.metadata,
          groupRefs,
          entity,
          context,
        });
      };
    },
  });
}
