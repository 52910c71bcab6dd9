import type { Principal } from '../../directory/Principal';
import type { User } from '../../directory/records';
import { fasjsonUserSearchRules } from './fasjsonUserSearchRules';
import { parseFasjsonPage } from './parseFasjsonPage';
import { parseUserSearch } from '../request/parseUserSearch';
import { ResourceNotFoundError } from '../response/apiErrors';
import {
  fasjsonCertificateModel,
  presentFasjsonCertificate,
} from './presentFasjsonCertificate';
import { presentFasjsonError } from './presentFasjson';
import { presentFasjsonPage } from './presentFasjsonPage';
import {
  fasjsonMemberModel,
  fasjsonUserFieldsFor,
  fasjsonUserModel,
  presentFasjsonUser,
} from './presentFasjsonUser';
import { groupModel, userGroupModel } from '../response/presentRecords';
import { presentOnce } from '../response/presentOnce';
import type { ResourceUris } from '../response/ResourceUris';
import type { Dialect } from '../api/Dialect';

/** Its names of users and groups; what is none is no path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const NAMES = ['username', 'groupname'];

/** Where it is mounted, below the plugin. */
export const FASJSON_ROOT = '/fasjson';

/**
 * What FASJSON, the reference implementation of the contract, really reads and
 * sends, so that its clients work as they are. Where it is not followed, and
 * why, is in `docs/fasjson-differences.md`.
 */
export function fasjsonDialect(uris: ResourceUris): Dialect {
  return {
    root: FASJSON_ROOT,
    uris,
    contentType: 'application/json',
    hasExtensions: false,
    mergesSlashes: true,
    readsBodyOfGet: true,
    accounts: { unlockedOnly: true },
    models: {
      user: fasjsonUserModel,
      member: fasjsonMemberModel,
      group: { ...groupModel, onlyByName: [] },
      userGroup: { ...userGroupModel, onlyByName: [] },
      certificate: fasjsonCertificateModel,
    },
    isPath: ({ path, template, params }) =>
      NAMES.every(name => !(name in params) || NAME.test(params[name])) &&
      (template.endsWith('/') || !path.endsWith('/')),
    readPage: parseFasjsonPage,
    readUserSearch: (query, errors) =>
      parseUserSearch(query, errors, fasjsonUserSearchRules),
    presentMe: account => presentMe(account, uris),
    userFieldsFor: fasjsonUserFieldsFor,
    presentUser: presentOnce(fasjsonUserModel.keys, (user: User, keys) =>
      presentFasjsonUser(user, keys, uris),
    ),
    presentCertificate: (held, options) =>
      presentFasjsonCertificate(held, { ...options, uris }),
    presentPage: presentFasjsonPage,
    userOfListNotFound: name =>
      new ResourceNotFoundError({ message: 'User does not exist', name }),
    presentError: presentFasjsonError,
  };
}

/**
 * FASJSON derives `/me/` from the DN that LDAP "Who am I?" (RFC 4532) returns:
 * 389 Directory Server's normalized DN, which is lower case. The DN of a host
 * has no principal name, and `uri` is not checked against the served users.
 */
function presentMe(
  { dn, kind, username, service }: Principal,
  uris: ResourceUris,
): ReturnType<Dialect['presentMe']> {
  const uid = username?.toLowerCase();
  return {
    dn: dn.toLowerCase(),
    username: uid ?? null,
    service: (kind === 'service' && service?.toLowerCase()) || null,
    uri: uid === undefined ? null : uris.user(uid),
  };
}
