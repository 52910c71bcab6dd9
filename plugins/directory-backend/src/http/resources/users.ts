import type { UserCertificates } from '../../certificates/UserCertificates';
import type { Dialect } from '../api/Dialect';
import { type Operation, operation } from '../api/Operation';
import { WHOLE_LIST, parsePage } from '../request/parsePage';
import { userNotFound } from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
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
    operation({
      id: 'get_user',
      path: '/users/:username/',
      model: models.user,
      async handle({ params: { username }, context }, { keys }) {
        const user = await directory.getUser(
          { ...accounts, username, fields: dialect.userFieldsFor(keys) },
          context,
        );
        const shown = found(user, () => userNotFound(username));
        return { result: dialect.presentUser(shown, keys) };
      },
    }),
    groupList(options, {
      id: 'list_user_groups',
      path: '/users/:username/groups/',
      model: models.userGroup,
      select: ({ params: { username }, query }, errors) => ({
        from: { kind: 'ofUser', username, ...accounts },
        page: dialect.readPage(query, errors),
      }),
    }),
    operation({
      id: 'list_user_agreements',
      path: '/users/:username/agreements/',
      model: agreementModel,
      parse: ({ query }, errors) => dialect.readPage(query, errors),
      async handle(call, { input: page, keys }) {
        const { context } = call;
        const { username } = call.params;
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
    }),
  ];
}

/** An extension: the certificates of a user, newest first. */
export function userCertificatesOperation(options: {
  readonly certificates: UserCertificates;
  readonly dialect: Dialect;
}): Operation {
  const { certificates, dialect } = options;
  return operation({
    id: 'list_user_certificates',
    path: '/users/:username/certificates/',
    model: dialect.models.certificate,
    parse: ({ query }, errors) => parsePage(query, errors),
    async handle(call, { input: page, keys }) {
      const { context } = call;
      const { username } = call.params;
      const listed = await certificates.list({ username, page }, context);
      const shown = mapPage(
        found(listed, () => userNotFound(username)),
        certificate =>
          dialect.presentCertificate(certificate, { keys, isNew: false }),
      );
      return dialect.presentPage(shown, { page, call });
    },
  });
}
