import {
  createSignInResolverFactory,
  type SignInInfo,
} from '@backstage/plugin-auth-node';
import { z } from 'zod/v3';
import type { DirectoryAccounts } from '../DirectoryAccounts';
import type { Principal } from '../Principal';
import { entityNameOf } from './entityNameOf';

const optionsSchema = z
  .object({
    namespace: z.string().min(1).optional(),
    realms: z.array(z.string().min(1)).min(1).optional(),
  })
  .strict()
  .optional();

/**
 * Whom the directory knows is let in, with or without a user in the catalog;
 * one that is there brings its groups.
 */
export function directoryUser(options: {
  readonly foreignRealms: readonly string[];
  readonly accounts: DirectoryAccounts;
}) {
  const { foreignRealms, accounts } = options;
  return createSignInResolverFactory({
    optionsSchema,
    create({ namespace, realms } = {}) {
      return async ({ result }: SignInInfo<Principal>, context) => {
        const name = entityNameOf({ principal: result, realms, foreignRealms });
        await accounts.requireUsable(result);
        const entityRef = { namespace, name };
        return context.signInWithCatalogUser(
          { entityRef },
          { dangerousEntityRefFallback: { entityRef } },
        );
      };
    },
  });
}
