import type { AuditorService } from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { toError } from '@backstage/errors';
import { directoryReplicaAcceptPermission } from '@directory-gateway/backstage-plugin-directory-common';
import { CallerAudit } from '../CallerAudit';
import type { Refusals } from '../replica/Refusals';
import type { ActionGate } from './ActionGate';

/**
 * Registers the action `directory:accept-directory` with the portal, which
 * overrides the mass-deletion guard.
 */
export function registerAcceptDirectory(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly gate: ActionGate;
  readonly refusals: Pick<Refusals, 'acceptAll'>;
}): void {
  const { actionsRegistry, auditor, gate, refusals } = options;
  const audit = new CallerAudit(auditor, {
    eventId: 'directory-accept',
    severityLevel: 'high',
  });
  actionsRegistry.register({
    name: 'accept-directory',
    title: 'Override the mass-deletion guard',
    description: `Lets the directory gateway serve a directory that has lost many of its users or groups at once.

Until then the gateway returns 503, because a directory with broken access rules looks the same. The override reaches every instance of the portal. Without a quarantine, it changes nothing.`,
    // No visibilityPermission: the gate refuses, and audits it.
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z => z.object({}),
      output: z =>
        z.object({
          accepted: z
            .string()
            .nullable()
            .describe('Reason for the quarantine; null if there was none'),
        }),
    },
    async action({ credentials }) {
      const accepted = await gate.admit({
        credentials,
        permission: directoryReplicaAcceptPermission,
        recordRefusal: ({ caller, error }) => audit.refuse(caller, error),
        async perform(caller) {
          const event = await audit.start(caller);
          try {
            const refused = (await refusals.acceptAll()).join('; ') || null;
            await event.success({ meta: { refusal: refused } });
            return refused;
          } catch (error) {
            await event.fail({ error: toError(error) });
            throw error;
          }
        },
      });
      return { output: { accepted } };
    },
  });
}
