import type {
  AuditorService,
  PermissionsService,
} from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { NotAllowedError, toError } from '@backstage/errors';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { directoryReplicaAcceptPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Refusals } from './Refusals';

/**
 * Registers the action `directory:accept-directory` with the portal: an
 * administrator says that a directory which has lost many of its entries is
 * right.
 */
export function registerAcceptDirectory(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly permissions: PermissionsService;
  readonly refusals: Pick<Refusals, 'acceptAll'>;
}): void {
  const { actionsRegistry, auditor, permissions, refusals } = options;
  actionsRegistry.register({
    name: 'accept-directory',
    title: 'Accept what the directory has',
    description: `Lets the directory gateway believe a directory that has lost many of its users or groups all at once.

Until then the gateway answers nothing, because a directory whose access rules were broken looks just so. It is said to every process of the portal that does not believe the directory now. When nothing is refused, this changes nothing.`,
    visibilityPermission: directoryReplicaAcceptPermission,
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z => z.object({}),
      output: z =>
        z.object({
          accepted: z
            .string()
            .nullable()
            .describe('What was refused until now; null when nothing was'),
        }),
    },
    async action({ credentials }) {
      const event = await auditor.createEvent({
        eventId: 'directory-accept',
        severityLevel: 'high',
      });
      try {
        const [decision] = await permissions.authorize(
          [{ permission: directoryReplicaAcceptPermission }],
          { credentials },
        );
        if (decision.result !== AuthorizeResult.ALLOW) {
          throw new NotAllowedError('You may not accept the directory');
        }
        const accepted = (await refusals.acceptAll()).join('; ') || null;
        await event.success({ meta: { refusal: accepted } });
        return { output: { accepted } };
      } catch (error) {
        await event.fail({ error: toError(error) });
        throw error;
      }
    },
  });
}
