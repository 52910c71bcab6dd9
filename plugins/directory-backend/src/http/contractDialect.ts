import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import type { User } from '@directory-gateway/directory-core';
import type { Dialect } from './api/Dialect';
import { parsePage } from './request/parsePage';
import { parseUserSearch } from './request/parseUserSearch';
import { toApiError, userNotFound } from '../apiErrors';
import { cacheSerialized } from './response/json';
import {
  certificateModel,
  presentCertificate,
} from './response/presentCertificate';
import {
  groupModel,
  memberModel,
  presentUser,
  userFieldsFor,
  userGroupModel,
  userModel,
} from './response/presentRecords';
import { ResourceUris } from './response/ResourceUris';

/**
 * The dialect of the contract.
 *
 * @param baseUrl - external URL of the plugin
 */
export function contractDialect(baseUrl: string): Dialect {
  const uris = new ResourceUris(baseUrl);
  const present = cacheSerialized(userModel.keys, (user: User, keys) =>
    presentUser(user, keys, uris),
  );
  return {
    root: '',
    uris,
    contentType: 'application/json; charset=utf-8',
    welcome: 'Welcome to the directory gateway',
    hasExtensions: true,
    mergesSlashes: false,
    queryOverridesForm: false,
    accounts: {},
    models: {
      user: userModel,
      member: memberModel,
      group: groupModel,
      userGroup: userGroupModel,
      certificate: certificateModel,
    },
    specification: basePath => ({
      ...openApiDocument,
      servers: [{ url: basePath }],
    }),
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
    presentUser: present,
    presentMember: present,
    presentCertificate: (issued, { keys }) =>
      presentCertificate(issued, keys, uris),
    presentPage: ({ items, total }, { page }) => ({
      result: items,
      ...(page && {
        page: page.number,
        page_size: page.size,
        total_results: total,
      }),
    }),
    userOfListNotFound: userNotFound,
    presentError: toApiError,
  };
}
