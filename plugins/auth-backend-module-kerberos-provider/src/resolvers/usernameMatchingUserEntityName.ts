import {
  createSignInResolverFactory,
  type SignInInfo,
} from '@backstage/plugin-auth-node';
import { z } from 'zod/v3';
import type { Principal } from '../Principal';
import { entityNameOf } from './entityNameOf';

const optionsSchema = z
  .object({
    namespace: z.string().min(1).optional(),
    realms: z.array(z.string().min(1)).min(1).optional(),
    dangerouslyAllowSignInWithoutUserInCatalog: z.boolean().optional(),
  })
  .strict()
  .optional();

/** Equal names are the same person: the administrator says so. */
export function usernameMatchingUserEntityName(options: {
  readonly foreignRealms: readonly string[];
}) {
  const { foreignRealms } = options;
  return createSignInResolverFactory({
    optionsSchema,
    create(resolverOptions = {}) {
      const { namespace, realms, dangerouslyAllowSignInWithoutUserInCatalog } =
        resolverOptions;
      return async ({ result }: SignInInfo<Principal>, context) => {
        const name = entityNameOf({ principal: result, realms, foreignRealms });
        const entityRef = { namespace, name };
        return context.signInWithCatalogUser(
          { entityRef },
          dangerouslyAllowSignInWithoutUserInCatalog
            ? { dangerousEntityRefFallback: { entityRef } }
            : undefined,
        );
      };
    },
  });
}
