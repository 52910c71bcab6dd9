import { NotFoundError } from '@backstage/errors';
import {
  createSignInResolverFactory,
  type SignInInfo,
} from '@backstage/plugin-auth-node';
import type { CatalogUsers } from './CatalogUsers';
import type { DirectoryAccounts } from './DirectoryAccounts';
import type { Principal } from './Principal';

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
