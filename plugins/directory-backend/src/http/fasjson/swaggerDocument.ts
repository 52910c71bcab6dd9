import type { OpenAPIV2 } from 'openapi-types';
import type { RecordModel } from '../response/fieldMask';
import { fasjsonCertificateModel, fasjsonMemberModel, fasjsonUserModel } from './presentFasjson';
import { groupModel, userGroupModel } from '../response/presentRecords';

type Schema = OpenAPIV2.Schema;
type Parameters = OpenAPIV2.GeneralParameterObject[];

const text: Schema = { type: 'string' };
const dateTime: Schema = { type: 'string', format: 'date-time' };
const flag: Schema = { type: 'boolean' };

const userSchemas: Record<string, Schema> = {
  creation: dateTime,
  is_private: flag,
  locked: flag,
};

const mask: Parameters = [
  {
    name: 'X-Fields',
    in: 'header',
    type: 'string',
    format: 'mask',
    description: 'Comma-separated keys of the records to return.',
  },
];

const page: Parameters = [
  {
    name: 'page_size',
    in: 'query',
    type: 'integer',
    description:
      'Number of results in a page. Lists are not paginated without it; the default of a search is 40.',
  },
  {
    name: 'page_number',
    in: 'query',
    type: 'integer',
    default: 1,
    description: 'Number of the page, from 1.',
  },
];

const searchTerms: Parameters = [
  queryParameter('email', 'Email address.'),
  queryParameter('email__exact', 'Deprecated, use `email`.'),
  queryParameter('username', 'Part of the user name.'),
  queryParameter('ircnick', 'Part of a chat nickname.'),
  queryParameter('givenname', 'Part of the first name.'),
  queryParameter('surname', 'Part of the last name.'),
  queryParameter('human_name', 'Part of the display name.'),
  queryParameter('github_username', 'GitHub user name.'),
  queryParameter('gitlab_username', 'GitLab user name.'),
  {
    ...queryParameter('creation__before', 'Latest time of creation.'),
    format: 'date-time',
  },
  queryParameter('rhbzemail', 'Email address in Bugzilla.'),
  queryParameter('website', 'URL of a website.'),
  queryParameter('rssurl', 'URL of an RSS feed.'),
  {
    name: 'group',
    in: 'query',
    type: 'array',
    items: { type: 'string' },
    collectionFormat: 'multi',
    description: 'Group name. The user is a member of every group given.',
  },
  queryParameter('username__exact', 'User name.'),
  queryParameter('ircnick__exact', 'Chat nickname.'),
  queryParameter('givenname__exact', 'First name.'),
  queryParameter('surname__exact', 'Last name.'),
  queryParameter('human_name__exact', 'Display name.'),
];

/**
 * Swagger 2.0 document of the fasjson dialect. Its structure is FASJSON's,
 * because `fasjson-client` builds its methods and results from it. It names no
 * host: a client uses the one that it loaded the document from.
 */
export function swaggerDocument(options: {
  /** Path below which the operations are, for example `/api/directory/fasjson/v1`. */
  readonly basePath: string;
}): OpenAPIV2.Document {
  const userNotFound = { 404: { description: 'User not found' } };
  const groupNotFound = { 404: { description: 'Group not found' } };
  const member = record(
    { ...fasjsonMemberModel, keys: fasjsonUserModel.keys },
    userSchemas,
  );
  return {
    swagger: '2.0',
    basePath: options.basePath,
    info: {
      title: 'FAS-JSON',
      version: '1.0',
      description:
        'Users, groups, memberships, agreements and certificates of a directory.',
    },
    consumes: ['application/json'],
    produces: ['application/json'],
    tags: [
      { name: 'me', description: 'The authenticated principal' },
      { name: 'users', description: 'Users' },
      { name: 'groups', description: 'Groups, their members and sponsors' },
      { name: 'certs', description: 'Certificates' },
      { name: 'search', description: 'User search' },
    ],
    paths: {
      '/me/': {
        get: operation({
          operationId: 'whoami',
          tags: ['me'],
          summary: 'Get the authenticated principal',
          parameters: mask,
          result: recordOf('Me'),
        }),
      },
      '/users/': {
        get: operation({
          operationId: 'list_users',
          tags: ['users'],
          summary: 'List users',
          parameters: [...page, ...mask],
          result: listOf('User'),
        }),
      },
      '/users/{username}/': {
        parameters: [pathParameter('username')],
        get: operation({
          operationId: 'get_user',
          tags: ['users'],
          summary: 'Get a user',
          parameters: mask,
          result: recordOf('User'),
          errors: userNotFound,
        }),
      },
      '/users/{username}/groups/': {
        parameters: [pathParameter('username')],
        get: operation({
          operationId: 'list_user_groups',
          tags: ['users'],
          summary: 'List the groups of a user',
          parameters: [...page, ...mask],
          result: listOf('UserGroup'),
          errors: userNotFound,
        }),
      },
      '/users/{username}/agreements/': {
        parameters: [pathParameter('username')],
        get: operation({
          operationId: 'list_user_agreements',
          tags: ['users'],
          summary: 'List the agreements that a user signed',
          parameters: [...page, ...mask],
          result: listOf('UserAgreement'),
          errors: userNotFound,
        }),
      },
      '/groups/': {
        get: operation({
          operationId: 'list_groups',
          tags: ['groups'],
          summary: 'List groups',
          parameters: [...page, ...mask],
          result: listOf('Group'),
        }),
      },
      '/groups/{groupname}/': {
        parameters: [pathParameter('groupname')],
        get: operation({
          operationId: 'get_group',
          tags: ['groups'],
          summary: 'Get a group',
          parameters: mask,
          result: recordOf('Group'),
          errors: groupNotFound,
        }),
      },
      '/groups/{groupname}/members/': {
        parameters: [pathParameter('groupname')],
        get: operation({
          operationId: 'list_group_members',
          tags: ['groups'],
          summary: 'List the members of a group',
          parameters: [...page, ...mask],
          result: listOf('Member'),
          errors: groupNotFound,
        }),
      },
      '/groups/{groupname}/sponsors/': {
        parameters: [pathParameter('groupname')],
        get: operation({
          operationId: 'list_group_sponsors',
          tags: ['groups'],
          summary: 'List the sponsors of a group',
          parameters: mask,
          // The response is a list. FASJSON's document has this mistake.
          result: recordOf('Sponsor'),
          errors: groupNotFound,
        }),
      },
      '/groups/{groupname}/is-member/{username}': {
        parameters: [pathParameter('username'), pathParameter('groupname')],
        get: operation({
          operationId: 'check_membership',
          tags: ['groups'],
          summary: 'Check whether a user is a member of a group',
          result: flag,
          errors: groupNotFound,
        }),
      },
      '/search/users/': {
        get: operation({
          operationId: 'search',
          tags: ['search'],
          summary: 'Search users',
          parameters: [...page, ...searchTerms, ...mask],
          result: listOf('User'),
          errors: { 400: { description: 'Validation error' } },
        }),
      },
      '/certs/': {
        post: operation({
          operationId: 'sign_csr',
          tags: ['certs'],
          summary: 'Sign a certificate signing request (CSR)',
          parameters: [
            { ...queryParameter('user', 'User name.'), required: true },
            { ...queryParameter('csr', 'CSR in PEM.'), required: true },
            queryParameter('profile', 'Name of the certificate profile.'),
            ...mask,
          ],
          result: recordOf('Cert'),
          errors: { 400: { description: 'The CSR could not be signed' } },
        }),
      },
      '/certs/{serial_number}/': {
        parameters: [{ ...pathParameter('serial_number'), type: 'integer' }],
        get: operation({
          operationId: 'get_cert',
          tags: ['certs'],
          summary: 'Get a certificate',
          parameters: mask,
          result: recordOf('Cert'),
          errors: { 404: { description: 'Certificate not found' } },
        }),
      },
    },
    definitions: {
      Me: record({
        keys: ['dn', 'username', 'service', 'uri'],
        lists: new Set(),
      }),
      User: record(fasjsonUserModel, {
        ...userSchemas,
        locked: { type: 'boolean', default: false },
      }),
      UserGroup: record(userGroupModel),
      UserAgreement: record({ keys: ['name'], lists: new Set() }),
      Group: record(groupModel),
      Member: member,
      Sponsor: member,
      Cert: record(fasjsonCertificateModel, {
        revoked: flag,
        serial_number: { type: 'integer' },
        valid_not_after: dateTime,
        valid_not_before: dateTime,
      }),
    },
    responses: {
      BadRequest: { description: 'The request is not valid' },
      LOCAL_ERROR: { description: 'The LDAP client failed' },
      MaskError: { description: 'The mask does not fit the record' },
      ParseError: { description: 'The mask is malformed' },
      SERVER_DOWN: { description: 'The LDAP server is unavailable' },
    },
  };
}

function operation(options: {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly parameters?: Parameters;
  readonly result: Schema;
  readonly errors?: OpenAPIV2.ResponsesObject;
}): OpenAPIV2.OperationObject {
  const { result, errors, ...operationObject } = options;
  return {
    ...operationObject,
    responses: {
      // Without `type`, bravado returns the body as parsed JSON. With
      // `type: object`, it would return models.
      200: { description: 'Success', schema: { properties: { result } } },
      401: { description: 'Unauthorized' },
      ...errors,
    },
  };
}

function recordOf(definition: string): Schema {
  return { $ref: `#/definitions/${definition}` };
}

function listOf(definition: string): Schema {
  return { type: 'array', items: { $ref: `#/definitions/${definition}` } };
}

/** Schema of a record whose keys are strings or, by the model, lists of strings. */
function record(
  { keys, lists, defaults }: RecordModel,
  others: Readonly<Record<string, Schema>> = {},
): Schema {
  const properties = keys.map(key => {
    const schema = lists.has(key) ? { type: 'array', items: text } : text;
    return [key, others[key] ?? schema];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(defaults && { 'x-mask': `{${defaults.join()}}` }),
  };
}

function pathParameter(name: string): OpenAPIV2.GeneralParameterObject {
  return { name, in: 'path', type: 'string', required: true };
}

function queryParameter(
  name: string,
  description: string,
): OpenAPIV2.GeneralParameterObject {
  return { name, in: 'query', type: 'string', description };
}
