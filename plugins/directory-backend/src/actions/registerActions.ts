import type { AuditorService } from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { toError } from '@backstage/errors';
import { directoryReplicaAcceptPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { CallerAudit } from '../directory/CallerAudit';
import { actorOf } from '../directory/Caller';
import type { Quarantines } from '../replica/sync/Quarantines';
import type { ActionGate } from './ActionGate';

/**
 * Registers the action `directory:accept-directory` with the portal, which
 * overrides the mass-deletion guard.
 */
export function registerAcceptDirectory(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly gate: ActionGate;
  readonly quarantines: Pick<Quarantines, 'accept'>;
}): void {
  const { actionsRegistry, auditor, gate, quarantines } = options;
  const audit = new CallerAudit(auditor, {
    eventId: 'directory-accept',
    severityLevel: 'high',
  });
  actionsRegistry.register({
    name: 'accept-directory',
    title: 'Override the mass-deletion guard',
    description: `Lets the directory gateway serve a directory that has lost many of its users or groups.

Until then the gateway returns 503, because a directory with broken access rules looks the same. The override names the counts that the log reports, reaches every instance of the portal, and expires after 10 minutes.`,
    // No visibilityPermission: the gate refuses, and audits it.
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z =>
        z.object({
          users: z
            .number()
            .int()
            .nonnegative()
            .describe('Number of users, as in the log'),
          groups: z
            .number()
            .int()
            .nonnegative()
            .describe('Number of groups, as in the log'),
        }),
      output: z =>
        z.object({
          expiresAt: z
            .string()
            .describe('When the override expires, ISO 8601 in UTC'),
        }),
    },
    async action({ input, credentials }) {
      const { users, groups } = input;
      const expiresAt = await gate.admit({
        credentials,
        permission: directoryReplicaAcceptPermission,
        recordRefusal: ({ caller, error }) =>
          audit.refuse(caller, error, { users, groups }),
        async perform(caller) {
          const event = await audit.start(caller, { users, groups });
          try {
            const expires = await quarantines.accept({
              users,
              groups,
              acceptedBy: actorOf(caller),
            });
            await event.success();
            return expires;
          } catch (error) {
            await event.fail({ error: toError(error) });
            throw error;
          }
        },
      });
      return { output: { expiresAt: expiresAt.toISOString() } };
    },
  });
}
