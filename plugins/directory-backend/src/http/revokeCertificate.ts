import { directoryCertificateRevokePermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { RevocationDesk } from '../certificates/RevocationDesk';
import type { Operation } from './Call';
import { resolveFields } from './request/fieldMask';
import { parseParameters } from './request/ParameterErrors';
import { parseRevocation } from './request/parseRevocation';
import { certificateNotFound } from './response/apiErrors';
import {
  certificateModel,
  presentCertificate,
} from './response/presentCertificate';
import type { ResourceUris } from './response/ResourceUris';

/** An extension: takes a certificate back, for good. */
export function revokeCertificateOperation(options: {
  readonly desk: RevocationDesk;
  readonly uris: ResourceUris;
}): Operation {
  const { desk, uris } = options;
  return {
    id: 'revoke_cert',
    method: 'post',
    path: '/certs/:serialNumber(\\d+)/revocation/',
    permission: directoryCertificateRevokePermission,
    recordRefusal: (caller, error) => desk.recordRefusal(caller, error),
    async handle({ params, parameters, fieldMask, caller }) {
      const keys = resolveFields(fieldMask, certificateModel);
      const serialNumber = BigInt(params.serialNumber);
      const reason = parseParameters(errors =>
        parseRevocation(parameters, errors),
      );
      const revoked = await desk.revoke({ serialNumber, reason }, caller);
      if (!revoked) {
        throw certificateNotFound(serialNumber);
      }
      return { result: presentCertificate(revoked, keys, uris) };
    },
  };
}
