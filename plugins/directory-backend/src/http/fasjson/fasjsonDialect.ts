import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import { requireSecureTransport } from '@directory-gateway/backstage-plugin-directory-node';
import { parseFasjsonPage, parseFasjsonSearchPage } from './parseFasjsonPage';
import {
  createdBefore,
  EXACT_TERMS,
  parseTime,
  parseUserSearch,
  SUBSTRING_TERMS,
  type UserSearchRules,
} from '../request/parseUserSearch';
import { exactTerms, substringTerms } from '../request/searchTerms';
import { isJson, mediaTypeOf } from '../request/readParameters';
import { ResourceNotFoundError } from '../../apiErrors';
import {
  fasjsonCertificateModel,
  fasjsonMemberModel,
  fasjsonUserFieldsFor,
  fasjsonUserModel,
  presentFasjsonCertificate,
  presentFasjsonError,
  presentFasjsonMember,
  presentFasjsonPage,
  presentFasjsonUser,
} from './presentFasjson';
import { groupModel, userGroupModel } from '../response/presentRecords';
import { cacheSerialized } from '../response/json';
import { ResourceUris } from '../response/ResourceUris';
import { swaggerDocument } from './swaggerDocument';
import type { Dialect } from '../api/Dialect';
import type { IncomingHttpHeaders } from 'node:http';
import type {
  Principal,
  User,
  UserField,
} from '@directory-gateway/directory-core';

/** Rules by which FASJSON parses a search. */
const fasjsonUserSearchRules: UserSearchRules = {
  parsePage: parseFasjsonSearchPage,
  terms: {
    // FASJSON reads `*` as a term of one character, which is too short.
    ...substringTerms<UserField>(SUBSTRING_TERMS, { hasPresence: false }),
    ...exactTerms<UserField>({ ...EXACT_TERMS, email__exact: 'emails' }),
    creation__before(text, errors) {
      const message = `Search for users created before this date Invalid date literal "${text}"`;
      const time = parseTime('creation__before', text, errors, message);
      // FASJSON's LDAP filter is `<=`, in whole seconds.
      const seconds = Math.floor(time.getTime() / 1000);
      return createdBefore(new Date(seconds * 1000 + 1));
    },
  },
  hasExtensions: false,
};

/** Names of users and groups in paths; others return 404. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const NAMES = ['username', 'groupname'];

/** Path of the dialect below the plugin. */
const FASJSON_ROOT = '/fasjson';

/**
 * Returns the dialect for clients of FASJSON; an empty list unless
 * `directory.fasjson.enabled` is set.
 *
 * @param baseUrl - external URL of the plugin
 * @throws InputError when `directory.fasjson.baseUrl` is not an https URL, or
 *   http on localhost
 */
export function fasjsonDialects(root: Config, baseUrl: string): Dialect[] {
  const config = root.getOptionalConfig('directory.fasjson');
  if (!config?.getOptionalBoolean('enabled')) {
    return [];
  }
  const key = 'directory.fasjson.baseUrl';
  const url =
    config.getOptionalString('baseUrl') ?? `${baseUrl}${FASJSON_ROOT}`;
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new InputError(`${key} must be an http(s) URL, not "${url}"`);
  }
  requireSecureTransport(url, key);
  return [fasjsonDialect(new ResourceUris(url))];
}

/**
 * Dialect of FASJSON, the reference implementation of the contract, for its
 * unmodified clients. `docs/fasjson-differences.md` lists the differences.
 */
function fasjsonDialect(uris: ResourceUris): Dialect {
  return {
    root: FASJSON_ROOT,
    uris,
    contentType: 'application/json',
    welcome: 'Welcome to FASJSON',
    unhealthyTitle: 'LDAP server is down',
    hasExtensions: false,
    mergesSlashes: true,
    queryOverridesForm: true,
    accounts: { unlockedOnly: true },
    models: {
      user: fasjsonUserModel,
      member: fasjsonMemberModel,
      group: { ...groupModel, onlyByName: [] },
      userGroup: { ...userGroupModel, onlyByName: [] },
      certificate: fasjsonCertificateModel,
    },
    specification: swaggerDocument,
    isPath: ({ path, template, params }) =>
      NAMES.every(name => !(name in params) || NAME.test(params[name])) &&
      (template.endsWith('/') || !path.endsWith('/')),
    readQueryBody: readJsonQuery,
    readPage: parseFasjsonPage,
    readUserSearch: (query, errors) =>
      parseUserSearch(query, errors, fasjsonUserSearchRules),
    presentMe: account => presentMe(account, uris),
    userFieldsFor: fasjsonUserFieldsFor,
    presentUser: cacheSerialized(fasjsonUserModel.keys, (user: User, keys) =>
      presentFasjsonUser(user, keys, uris),
    ),
    presentMember: (user, keys) => presentFasjsonMember(user, keys, uris),
    presentCertificate: (issued, options) =>
      presentFasjsonCertificate(issued, { ...options, uris }),
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

/**
 * The parameters in the JSON body of a GET, which precede those of the query; a
 * list is a repeated parameter. A body that is not a JSON object, or has another
 * content type, has none.
 */
function readJsonQuery(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): readonly [string, string][] {
  const body = isJson(mediaTypeOf(request.headers))
    ? parse(request.body.toString())
    : undefined;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return [];
  }
  return Object.entries(body).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter(one => one !== null && typeof one !== 'object')
      .map((one): [string, string] => [name, String(one)]),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
