import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { NotFoundError } from '@backstage/errors';
import { directoryCertificateRevokePermission } from '@directory-gateway/backstage-plugin-directory-common';
import { REVOCABLE_REASONS } from '@directory-gateway/backstage-plugin-directory-node';
import type { RevocationDesk } from '../certificates/RevocationService';
import type { ActionGate } from './ActionGate';
import { parseSerialNumber } from './parseSerialNumber';

/** Registers the action `directory:revoke-certificate` with the portal. */
export function registerRevokeCertificate(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly gate: ActionGate;
  readonly desk: RevocationDesk;
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
