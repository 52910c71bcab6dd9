import type { User } from '../directory/records';
import { parsePage } from './request/parsePage';
import { parseUserSearch } from './request/parseUserSearch';
import { userNotFound } from './response/apiErrors';
import { envelopePage } from './response/presentRecords';
import {
  certificateModel,
  presentCertificate,
} from './response/presentCertificate';
import { groupModel, userGroupModel } from './response/presentRecords';
import { presentOnce } from './response/json';
import {
  memberModel,
  presentUser,
  userFieldsFor,
  userModel,
} from './response/presentRecords';
import type { ResourceUris } from './response/ResourceUris';
import { toApiError } from './response/presentError';
import type { Dialect } from './api/Dialect';

/** The contract to the letter. */
export function contractDialect(uris: ResourceUris): Dialect {
  return {
    root: '',
    uris,
    contentType: 'application/json; charset=utf-8',
    hasExtensions: true,
    mergesSlashes: false,
    readsBodyOfGet: false,
    accounts: {},
    models: {
      user: userModel,
      member: memberModel,
      group: groupModel,
      userGroup: userGroupModel,
      certificate: certificateModel,
    },
    isPath: () => true,
    readPage: parsePage,
    readUserSearch: (query, errors) => parseUserSearch(query, errors),
    presentMe: ({ dn, username, service, served }) => ({
      dn,
      username: username ?? null,
      service: service ?? null,
      uri: served && username ? uris.user(username) : null,
    }),
    userFieldsFor,
    presentUser: presentOnce(userModel.keys, (user: User, keys) =>
      presentUser(user, keys, uris),
    ),
    presentCertificate: (held, { keys }) =>
      presentCertificate(held, keys, uris),
    presentPage: (shown, { page }) =>
      page ? envelopePage(shown, page) : { result: shown.items },
    userOfListNotFound: userNotFound,
    presentError: toApiError,
  };
}
