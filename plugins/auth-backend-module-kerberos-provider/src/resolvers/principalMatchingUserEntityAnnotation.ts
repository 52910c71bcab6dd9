import {
  createSignInResolverFactory,
  type SignInInfo,
} from '@backstage/plugin-auth-node';
import type { Principal } from '../Principal';

/**
 * The annotation of a catalog user that names their principal, with its realm:
 * `alice@EXAMPLE.TEST`.
 *
 * @public
 */
export const KERBEROS_PRINCIPAL_ANNOTATION =
  'directory-gateway/kerberos-principal';

/** The catalog says whose principal it is. */
export const principalMatchingUserEntityAnnotation =
  createSignInResolverFactory({
    create() {
      return async ({ result }: SignInInfo<Principal>, context) =>
        context.signInWithCatalogUser({
          annotations: { [KERBEROS_PRINCIPAL_ANNOTATION]: result.principal },
        });
    },
  });
