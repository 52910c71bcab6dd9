import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import type { User } from '../../directory/records';
import type { Operation } from '../api/Operation';
import type { Dialect } from '../api/Dialect';
import { resolveFields } from '../response/fieldMask';
import { parseParameters } from '../request/ParameterErrors';
import { WHOLE_LIST, parsePage } from '../request/parsePage';
import { userNotFound } from '../response/apiErrors';
import {
  envelopePage,
  found,
  groupFieldsFor,
  mapPage,
  presentGroups,
} from '../response/presentRecords';
import { streamedList } from '../response/FileStream';
import type { UserCertificates } from '../../certificates/CertificateReader';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { ResourceUris } from '../response/ResourceUris';

const EVERYONE = { kind: 'all' } as const;

/** Users, their groups and their agreements (contract, section 4.2). */
export function userOperations(options: {
  readonly directory: PrivateDirectory;
  readonly dialect: Dialect;
}): readonly Operation[] {
  const { directory, dialect } = options;
  const { accounts, models, uris } = dialect;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    {
      ...read,
      id: 'list_users',
      path: '/users/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const page = parseParameters(errors => dialect.readPage(query, errors));
        const keys = resolveFields(fieldMask, models.user);
        const fields = dialect.userFieldsFor(keys);
        const present = (user: User) => dialect.presentUser(user, keys);
        const selection = { ...accounts, from: EVERYONE, fields };
        if (!page) {
          return streamedList(
            await directory.streamUsers(selection, context),
            present,
          );
        }
        const users = await directory.listUsers(
          { ...selection, page },
          context,
        );
        return dialect.presentPage(mapPage(users, present), { page, call });
      },
    },
    {
      ...read,
      id: 'get_user',
      path: '/users/:username/',
      async handle({ params: { username }, fieldMask, context }) {
        const keys = resolveFields(fieldMask, models.user);
        const user = await directory.getUser(
          { ...accounts, username, fields: dialect.userFieldsFor(keys) },
          context,
        );
        const shown = found(user, () => userNotFound(username));
        return { result: dialect.presentUser(shown, keys) };
      },
    },
    {
      ...read,
      id: 'list_user_groups',
      path: '/users/:username/groups/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const { username } = call.params;
        const page = parseParameters(errors => dialect.readPage(query, errors));
        const keys = resolveFields(fieldMask, models.userGroup);
        const groups = await directory.listGroups(
          {
            from: { kind: 'ofUser', username, ...accounts },
            page: page ?? WHOLE_LIST,
            fields: groupFieldsFor(keys),
          },
          context,
        );
        const shown = await presentGroups(
          found(groups, () => dialect.userOfListNotFound(username)),
          { keys, uris, directory, context },
        );
        return dialect.presentPage(shown, { page, call });
      },
    },
    {
      ...read,
      id: 'list_user_agreements',
      path: '/users/:username/agreements/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const { username } = call.params;
        const page = parseParameters(errors => dialect.readPage(query, errors));
        const keys = resolveFields(fieldMask, {
          keys: ['name'],
          lists: new Set(),
        });
        const agreements = await directory.listAgreements(
          { ...accounts, username, page: page ?? WHOLE_LIST },
          context,
        );
        const shown = mapPage(
          found(agreements, () => dialect.userOfListNotFound(username)),
          name => (keys.length > 0 ? { name } : {}),
        );
        return dialect.presentPage(shown, { page, call });
      },
    },
  ];
}

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
