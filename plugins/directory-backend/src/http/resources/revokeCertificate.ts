import { directoryCertificateRevokePermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { CertificateReader } from '../../certificates/CertificateReader';
import type { RevocationDesk } from '../../certificates/RevocationService';
import type { Operation } from '../api/Operation';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parseRevocation } from './parseRevocation';
import { certificateNotFound } from '../response/apiErrors';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { ResourceUris } from '../response/ResourceUris';

/** The fields that are returned to a caller who may not see the certificate. */
const ALWAYS_VISIBLE: ReadonlySet<string> = new Set([
  'cacn',
  'revoked',
  'revocation_reason',
  'serial_number',
  'serial_number_hex',
  'uri',
]);

/** An extension: revokes a certificate. */
export function revokeCertificateOperation(options: {
  readonly desk: RevocationDesk;
  readonly reader: Pick<CertificateReader, 'isVisible'>;
  readonly uris: ResourceUris;
}): Operation {
  const { desk, reader, uris } = options;
  return {
    id: 'revoke_cert',
    method: 'post',
    path: '/certs/:serialNumber(\\d+)/revocation/',
    permission: directoryCertificateRevokePermission,
    recordRefusal: ({ caller, error, params }) =>
      desk.recordRefusal(
        { caller, error },
        { serialNumber: BigInt(params.serialNumber) },
      ),
    async handle({ params, parameters, fieldMask, caller, context }) {
      const keys = resolveFields(fieldMask, certificateModel);
      const serialNumber = BigInt(params.serialNumber);
      const reason = parseParameters(errors =>
        parseRevocation(parameters, errors),
      );
      const revoked = await desk.revoke({ serialNumber, reason }, caller);
      if (!revoked) {
        throw certificateNotFound(serialNumber);
      }
      // The certificate is revoked, whether or not its owner can be read.
      const isVisible = await reader
        .isVisible(revoked, context)
        .catch(() => false);
      const shown = isVisible
        ? keys
        : keys.filter(key => ALWAYS_VISIBLE.has(key));
      return { result: presentCertificate(revoked, shown, uris) };
    },
  };
}
