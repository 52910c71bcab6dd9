import type { ActionsRegistryService } from '@backstage/backend-plugin-api/alpha';
import { directoryCertificateRevokePermission } from '@directory-gateway/backstage-plugin-directory-common';
import { REVOCABLE_REASONS } from '@directory-gateway/backstage-plugin-directory-node';
import { parseSerialNumber } from './parseSerialNumber';
import type { RevocationService } from './RevocationService';

/** Registers the action `directory:revoke-certificate` with the portal. */
export function registerRevokeCertificate(options: {
  readonly actionsRegistry: ActionsRegistryService;
  readonly service: RevocationService;
}): void {
  const { actionsRegistry, service } = options;
  actionsRegistry.register({
    name: 'revoke-certificate',
    title: 'Revoke a certificate',
    description: `Revokes a certificate that the directory gateway's own authority has issued, for good, and puts it on the revocation list.

Certificates of other authorities, such as FreeIPA's, are not known here. Revoking one again changes nothing and tells since when it is revoked.`,
    visibilityPermission: directoryCertificateRevokePermission,
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
            .describe('Why, as the revocation list tells it (RFC 5280 §5.3.1)'),
        }),
      output: z =>
        z.object({
          serial: z.string().describe('Serial number in decimal digits'),
          revokedAt: z
            .string()
            .describe('Since when it is revoked, ISO 8601 in UTC'),
        }),
    },
    async action({ input, credentials }) {
      const serialNumber = parseSerialNumber(input.serial);
      const { revokedAt } = await service.revoke(
        { serialNumber, reason: input.reason },
        { credentials },
      );
      return {
        output: {
          serial: String(serialNumber),
          revokedAt: revokedAt.toISOString(),
        },
      };
    },
  });
}
