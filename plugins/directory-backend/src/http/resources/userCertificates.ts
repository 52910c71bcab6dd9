import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { UserCertificates } from '../../certificates/UserCertificates';
import type { Operation } from '../api/Operation';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { parsePage } from '../request/parsePage';
import { userNotFound } from '../response/apiErrors';
import { envelopePage, found, mapPage } from '../response/envelope';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { ResourceUris } from '../response/ResourceUris';

/** An extension: the certificates of a user, newest first. */
export function userCertificatesOperation(options: {
  readonly certificates: UserCertificates;
  readonly uris: ResourceUris;
}): Operation {
  const { certificates, uris } = options;
  return {
    id: 'list_user_certificates',
    method: 'get',
    path: '/users/:username/certificates/',
    permission: directoryReadPermission,
    async handle({ params: { username }, query, fieldMask, context }) {
      const page = parseParameters(errors => parsePage(query, errors));
      const keys = resolveFields(fieldMask, certificateModel);
      const held = await certificates.list({ username, page }, context);
      const shown = mapPage(
        found(held, () => userNotFound(username)),
        certificate => presentCertificate(certificate, keys, uris),
      );
      return envelopePage(shown, page);
    },
  };
}
