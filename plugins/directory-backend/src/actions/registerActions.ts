import type { AuditorService } from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { InputError, NotFoundError } from '@backstage/errors';
import {
  directoryCertificateRevokePermission,
  directoryReplicaOverridePermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { REVOCABLE_REASONS } from '@directory-gateway/backstage-plugin-directory-node';
import { actorOf, CallerAudit } from '@directory-gateway/directory-core';
import type { AccountHolds } from '../certificates/holds/AccountHolds';
import type { RevocationService } from '../certificates/RevocationService';
import type { ReplicaQuarantine } from '../guard/ReplicaQuarantine';
import { ActionGate, type ActionGateOptions } from './ActionGate';

/** Registers the actions of the plugin with the portal. */
export function registerActions(
  options: ActionGateOptions & {
    readonly actionsRegistry: ActionsRegistryService;
    readonly auditor: AuditorService;
    /** `undefined` without `directory.certificates`. */
    readonly certificates:
      | {
          readonly holds: Pick<AccountHolds, 'override'>;
          readonly revocations: RevocationService;
        }
      | undefined;
    readonly quarantine: Pick<ReplicaQuarantine, 'override'>;
  },
): void {
  const { actionsRegistry, certificates } = options;
  const gate = new ActionGate(options);
  registerOverrideDeletionGuard({ ...options, gate });
  if (certificates) {
    const { holds, revocations } = certificates;
    registerRevokeCertificate({ actionsRegistry, gate, revocations });
    registerOverrideHoldLimit({ ...options, gate, holds });
  }
}

/** Registers the `directory:override-deletion-guard` action. */
function registerOverrideDeletionGuard(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly gate: ActionGate;
  readonly quarantine: Pick<ReplicaQuarantine, 'override'>;
}): void {
  const { actionsRegistry, auditor, gate, quarantine } = options;
  const audit = new CallerAudit(auditor, {
    eventId: 'deletion-guard-override',
    severityLevel: 'high',
  });
  actionsRegistry.register({
    name: 'override-deletion-guard',
    title: 'Override the mass-deletion guard',
    description: `Allows the directory gateway to serve a directory from which many users or groups were deleted.

Until then, the gateway returns 503, because broken access rules look like deletions. The override must contain the counts from the log. It applies to all instances of the portal and expires after 10 minutes.`,
    // Without visibilityPermission, so that denied calls are audited.
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z =>
        z.object({
          users: z
            .number()
            .int()
            .nonnegative()
            .describe('Number of users in the directory, from the log'),
          groups: z
            .number()
            .int()
            .nonnegative()
            .describe('Number of groups in the directory, from the log'),
        }),
      output: z =>
        z.object({
          expiresAt: z
            .string()
            .describe('Expiry time of the override, ISO 8601 in UTC'),
        }),
    },
    async action({ input, credentials }) {
      const { users, groups } = input;
      const expiresAt = await gate.run({
        credentials,
        permission: directoryReplicaOverridePermission,
        recordDenial: ({ caller, error }) =>
          audit.recordDenial(caller, error, { users, groups }),
        perform: caller =>
          audit.run(caller, { users, groups }, () =>
            quarantine.override({
              users,
              groups,
              acceptedBy: actorOf(caller),
            }),
          ),
      });
      return { output: { expiresAt: expiresAt.toISOString() } };
    },
  });
}

/** Registers the `directory:revoke-certificate` action. */
function registerRevokeCertificate(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly gate: ActionGate;
  readonly revocations: RevocationService;
}): void {
  const { actionsRegistry, gate, revocations } = options;
  actionsRegistry.register({
    name: 'revoke-certificate',
    title: 'Revoke a certificate',
    description: `Revokes a certificate permanently, if its certificate authority (CA) allows it.

Revoking a revoked certificate changes nothing and returns the recorded reason.`,
    // Without visibilityPermission, so that denied calls are audited.
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z =>
        z.object({
          serial: z
            .string()
            .describe(
              'Serial number: decimal digits, or hexadecimal digits after 0x',
            ),
          reason: z
            .enum(REVOCABLE_REASONS)
            .default('unspecified')
            .describe('Revocation reason (RFC 5280 §5.3.1)'),
        }),
      output: z =>
        z.object({
          serial: z.string().describe('Serial number in decimal digits'),
          reason: z
            .number()
            .describe('Recorded reason code (RFC 5280 §5.3.1), 0 to 10'),
        }),
    },
    async action({ input, credentials }) {
      const serialNumber = parseSerialNumber(input.serial);
      const revoked = await gate.run({
        credentials,
        permission: directoryCertificateRevokePermission,
        recordDenial: denied =>
          revocations.recordDenial(denied, { serialNumber }),
        perform: caller =>
          revocations.revoke({ serialNumber, reason: input.reason }, caller),
      });
      if (!revoked?.revocation) {
        throw new NotFoundError('Certificate not found');
      }
      const { reason } = revoked.revocation;
      return { output: { serial: String(serialNumber), reason } };
    },
  });
}

/** Registers the `directory:override-hold-limit` action. */
function registerOverrideHoldLimit(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly gate: ActionGate;
  readonly holds: Pick<AccountHolds, 'override'>;
}): void {
  const { actionsRegistry, auditor, gate, holds } = options;
  const audit = new CallerAudit(auditor, {
    eventId: 'certificate-holds-override',
    severityLevel: 'high',
  });
  actionsRegistry.register({
    name: 'override-hold-limit',
    title: 'Override the limit of certificate holds',
    description: `Lets the directory gateway put the certificates of unusually many locked and deleted users on hold, or revoke those of deleted users, in one run.

The override must contain the number of users from the log, and expires after 10 minutes. With another number, it has no effect. First check that these users were really locked or deleted.`,
    // Without visibilityPermission, so that denied calls are audited.
    attributes: { readOnly: false, destructive: true, idempotent: true },
    schema: {
      input: z =>
        z.object({
          count: z
            .number()
            .int()
            .positive()
            .describe('Number of users, from the log'),
        }),
      output: z =>
        z.object({
          expiresAt: z
            .string()
            .describe('Expiry time of the override, ISO 8601 in UTC'),
        }),
    },
    async action({ input: { count }, credentials }) {
      const expiresAt = await gate.run({
        credentials,
        permission: directoryCertificateRevokePermission,
        recordDenial: ({ caller, error }) =>
          audit.recordDenial(caller, error, { count }),
        perform: caller =>
          audit.run(caller, { count }, () =>
            holds.override({ count, actor: actorOf(caller) }),
          ),
      });
      return { output: { expiresAt: expiresAt.toISOString() } };
    },
  });
}

/** Up to 20 octets (RFC 5280 §4.1.2.2). */
const SERIAL_NUMBER = /^(?:[0-9]{1,49}|0x[0-9a-f]{1,40})$/i;

/**
 * Parses a serial number: decimal, or hexadecimal after `0x`.
 *
 * @throws InputError when it is neither.
 */
function parseSerialNumber(text: string): bigint {
  const trimmed = text.trim();
  if (!SERIAL_NUMBER.test(trimmed)) {
    throw new InputError(
      'A serial number must be decimal, or hexadecimal after 0x',
    );
  }
  return BigInt(trimmed);
}
