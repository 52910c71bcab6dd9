import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { UserCertificates } from '../../certificates/UserCertificates';
import type { Dialect } from '../api/Dialect';
import type { Operation } from '../api/Operation';
import { parseParameters } from '../request/ParameterErrors';
import { WHOLE_LIST, parsePage } from '../request/parsePage';
import { userNotFound } from '../../apiErrors';
import { type RecordModel, resolveFields } from '../response/fieldMask';
import {
  type DirectoryOptions,
  found,
  groupList,
  mapPage,
  userList,
} from './lists';

const agreementModel: RecordModel = { keys: ['name'], lists: new Set() };

/**
 * Users, their groups and agreements, and the search for users (contract,
 * sections 4.2 and 4.3).
 */
export function userOperations(
  options: DirectoryOptions,
): readonly Operation[] {
  const { directory, dialect } = options;
  const { accounts, models } = dialect;
  const read = { method: 'get', permission: directoryReadPermission } as const;
  return [
    userList(options, {
      id: 'list_users',
      path: '/users/',
      model: models.user,
      select: ({ query }, errors) => ({
        ...accounts,
        from: { kind: 'all' },
        page: dialect.readPage(query, errors),
      }),
    }),
    userList(options, {
      id: 'search',
      path: '/search/users/',
      model: models.user,
      select: ({ query }, errors) => ({
        ...accounts,
        from: { kind: 'all' },
        ...dialect.readUserSearch(query, errors),
      }),
    }),
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
    groupList(options, {
      id: 'list_user_groups',
      path: '/users/:username/groups/',
      model: models.userGroup,
      select: ({ params: { username }, query }, errors) => ({
        from: { kind: 'ofUser', username, ...accounts },
        page: dialect.readPage(query, errors),
      }),
    }),
    {
      ...read,
      id: 'list_user_agreements',
      path: '/users/:username/agreements/',
      async handle(call) {
        const { query, fieldMask, context } = call;
        const { username } = call.params;
        const page = parseParameters(errors => dialect.readPage(query, errors));
        const keys = resolveFields(fieldMask, agreementModel);
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
  readonly dialect: Dialect;
}): Operation {
  const { certificates, dialect } = options;
  return {
    id: 'list_user_certificates',
    method: 'get',
    path: '/users/:username/certificates/',
    permission: directoryReadPermission,
    async handle(call) {
      const { query, fieldMask, context } = call;
      const { username } = call.params;
      const page = parseParameters(errors => parsePage(query, errors));
      const keys = resolveFields(fieldMask, dialect.models.certificate);
      const listed = await certificates.list({ username, page }, context);
      const shown = mapPage(
        found(listed, () => userNotFound(username)),
        certificate =>
          dialect.presentCertificate(certificate, { keys, isNew: false }),
      );
      return dialect.presentPage(shown, { page, call });
    },
  };
}
