import type { AuditorService } from '@backstage/backend-plugin-api';
import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { InputError, NotFoundError, toError } from '@backstage/errors';
import {
  directoryCertificateRevokePermission,
  directoryReplicaAcceptPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import { CallerAudit } from '../directory/CallerAudit';
import { actorOf } from '../directory/Caller';
import type { ReplicaQuarantine } from '../replica/sync/ReplicaQuarantine';
import type { ActionGate } from './ActionGate';
import { REVOCABLE_REASONS } from '@directory-gateway/backstage-plugin-directory-node';
import type { RevocationService } from '../certificates/RevocationService';

/**
 * Registers the action `directory:accept-directory` with the portal, which
 * overrides the mass-deletion guard.
 */
export function registerAcceptDirectory(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly auditor: AuditorService;
  readonly gate: ActionGate;
  readonly quarantines: Pick<ReplicaQuarantine, 'accept'>;
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

/** Registers the action `directory:revoke-certificate` with the portal. */
export function registerRevokeCertificate(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly gate: ActionGate;
  readonly desk: RevocationService;
}): void {
  const { actionsRegistry, gate, desk } = options;
  actionsRegistry.register({
    name: 'revoke-certificate',
    title: 'Revoke a certificate',
    description: `Revokes a certificate permanently, if its certificate authority lets the directory gateway do so.

Revoking a revoked certificate changes nothing and returns the recorded reason.`,
    // No visibilityPermission: the gate refuses, and audits it.
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
            .describe('Reason, as the CRL states it (RFC 5280 §5.3.1)'),
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
      const revoked = await gate.admit({
        credentials,
        permission: directoryCertificateRevokePermission,
        recordRefusal: refusal => desk.recordRefusal(refusal, { serialNumber }),
        perform: caller =>
          desk.revoke({ serialNumber, reason: input.reason }, caller),
      });
      if (!revoked?.revocation) {
        throw new NotFoundError('Certificate not found');
      }
      const { reason } = revoked.revocation;
      return { output: { serial: String(serialNumber), reason } };
    },
  });
}

/** 20 octets (RFC 5280 §4.1.2.2), as people write them. */
const SERIAL_NUMBER = /^(?:[0-9]{1,49}|0x[0-9a-f]{1,40})$/i;

/**
 * Reads a serial number as people give it: decimal, or hexadecimal after `0x`.
 *
 * @throws InputError when it is neither.
 */
export function parseSerialNumber(text: string): bigint {
  const trimmed = text.trim();
  if (!SERIAL_NUMBER.test(trimmed)) {
    throw new InputError(
      'A serial number must be decimal, or hexadecimal with 0x in front',
    );
  }
  return BigInt(trimmed);
}
