import type { User } from '../../directory/User';
import { fasjsonUserSearchRules } from '../request/fasjsonUserSearchRules';
import { parseFasjsonPage } from '../request/parseFasjsonPage';
import { parseUserSearch } from '../request/parseUserSearch';
import { ResourceNotFoundError } from '../response/apiErrors';
import {
  fasjsonCertificateModel,
  presentFasjsonCertificate,
} from '../response/presentFasjsonCertificate';
import { presentFasjsonError } from '../response/presentFasjsonError';
import { presentFasjsonPage } from '../response/presentFasjsonPage';
import {
  fasjsonMemberModel,
  fasjsonUserFieldsFor,
  fasjsonUserModel,
  presentFasjsonUser,
} from '../response/presentFasjsonUser';
import { groupModel, userGroupModel } from '../response/presentGroup';
import { presentOnce } from '../response/presentOnce';
import type { ResourceUris } from '../response/ResourceUris';
import type { Dialect } from './Dialect';

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
