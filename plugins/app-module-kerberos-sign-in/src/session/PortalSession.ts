import { z } from 'zod';

/** What an auth provider of Backstage answers to `refresh`. */
export const portalSessionSchema = z.object({
  profile: z.object({
    email: z.string().optional(),
    displayName: z.string().optional(),
    picture: z.string().optional(),
  }),
  backstageIdentity: z.object({
    token: z.string(),
    expiresInSeconds: z.number().positive().optional(),
    identity: z.object({
      type: z.literal('user'),
      userEntityRef: z.string(),
      ownershipEntityRefs: z.array(z.string()),
    }),
  }),
});

/** Who somebody is in the portal, for a while. */
export type PortalSession = z.infer<typeof portalSessionSchema>;
