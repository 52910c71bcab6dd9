import type {
  AuditorService,
  PermissionsService,
} from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { NotAllowedError } from '@backstage/errors';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { directoryReplicaAcceptPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Replica } from './Replica';

/**
 * Registers the action `directory:accept-directory` with the portal: an
 * administrator says that a directory which has lost many of its entries is
 * right.
 */
export function registerAcceptDirectory(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly permissions: PermissionsService;
  readonly replica: Pick<Replica, 'refusal' | 'acceptShrinkage'>;
}): void {
  const { actionsRegistry, auditor, permissions, replica } = options;
  actionsRegistry.register({
    name: 'accept-directory',
    title: 'Accept what the directory has',
    description: `Lets the directory gateway believe a directory that has lost many of its users or groups all at once.

Until then the gateway answers nothing, because a directory whose access rules were broken looks just so. When nothing is refused, this changes nothing.`,
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
      const { refusal = null } = replica;
      const event = await auditor.createEvent({
        eventId: 'directory-accept',
        severityLevel: 'high',
        meta: { refusal },
      });
      const [decision] = await permissions.authorize(
        [{ permission: directoryReplicaAcceptPermission }],
        { credentials },
      );
      if (decision.result !== AuthorizeResult.ALLOW) {
        const error = new NotAllowedError('You may not accept the directory');
        await event.fail({ error });
        throw error;
      }
      if (refusal !== null) {
        replica.acceptShrinkage();
      }
      await event.success();
      return { output: { accepted: refusal } };
    },
  });
}
