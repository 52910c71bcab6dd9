import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { type ObservedResponse, validateResponse } from './validateResponse';

const request_id = 'r1';
const user = {
  username: 'alice',
  surname: 'Liddell',
  givenname: 'Alice',
  human_name: 'Alice Liddell',
  emails: ['alice@example.test'],
  ircnicks: null,
  locale: null,
  timezone: null,
  gpgkeyids: null,
  sshpubkeys: null,
  certificates: null,
  creation: '2020-04-23T10:16:35',
  is_private: false,
  locked: false,
  github_username: null,
  gitlab_username: null,
  pronouns: null,
  rhbzemail: null,
  websites: null,
  rssurls: null,
  uri: 'https://portal.example.test/api/directory/v1/users/alice/',
};
const page = { page: 1, page_size: 40, total_results: 1 };

function observe(
  overrides: Partial<Omit<ObservedResponse, 'body'>> & { body?: unknown },
): ObservedResponse {
  const { body, ...rest } = overrides;
  return {
    method: 'GET',
    path: '/users/alice/',
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    ...rest,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

const validate = (overrides: Parameters<typeof observe>[0]) => () =>
  validateResponse(observe(overrides));

describe('validateResponse', () => {
  it('accepts all spellings of an operation', () => {
    for (const path of [
      '/users/{username}/',
      '/users/alice/',
      '/users/alice',
      '/v1/users/alice/?x=/groups/',
      '/api/directory/v1/users/a%2Fb/',
      'http://127.0.0.1:7007/api/directory/v1/users/alice/',
    ]) {
      expect(validate({ path, body: { result: user } })).not.toThrow();
    }
  });

  it('finds every operation of the document', () => {
    for (const path of Object.keys(openApiDocument.paths ?? {})) {
      expect(
        validate({
          path,
          method: path === '/certs/' ? 'POST' : 'GET',
          status: 403,
          body: { message: 'No', request_id },
        }),
      ).not.toThrow();
    }
  });

  it('requires every key without a mask and no key with a mask', () => {
    const { locale, ...part } = user;
    expect(locale).toBeNull();
    expect(validate({ body: { result: part } })).toThrow(
      "body/result must have required property 'locale'",
    );
    expect(validate({ masked: true, body: { result: part } })).not.toThrow();
    expect(validate({ masked: true, body: { result: {} } })).not.toThrow();
    expect(
      validate({ path: '/users/', body: { ...page, result: [part] } }),
    ).toThrow("body/result/0 must have required property 'locale'");
  });

  it('rejects additional keys', () => {
    expect(validate({ body: { result: { ...user, website: 'x' } } })).toThrow(
      'body/result must NOT have additional properties (website)',
    );
    expect(
      validate({ masked: true, body: { result: { website: 'x' } } }),
    ).toThrow('additional properties (website)');
    expect(
      validate({
        path: '/search/users/?username=ali',
        body: { ...page, result: [user], next_page: 2 },
      }),
    ).toThrow('unevaluated properties (next_page)');
  });

  it('rejects values of another type or format', () => {
    for (const [key, value] of Object.entries({
      locked: null,
      emails: 'alice@example.test',
      creation: '2020-04-23T10:16:35Z',
      uri: '/users/alice/',
      username: 'a/b',
    })) {
      expect(validate({ body: { result: { ...user, [key]: value } } })).toThrow(
        `body/result/${key} must`,
      );
    }
  });

  it('rejects `locked` in members', () => {
    const path = '/groups/packager/members/';
    const { uri, username } = user;
    const item = { username, uri };
    expect(validate({ path, body: { ...page, result: [item] } })).not.toThrow();
    expect(
      validate({
        path,
        masked: true,
        body: { ...page, result: [{ username, locked: false }] },
      }),
    ).toThrow('body/result/0 must NOT be valid');
  });

  it('requires numbers to be written as integers', () => {
    const body = (serial: string) =>
      `{"message":"Certificate not found","serial_number":${serial},"request_id":"r1"}`;
    const path = '/certs/123456789012345678901234567890/';
    expect(
      validate({
        path,
        status: 404,
        body: body('123456789012345678901234567890'),
      }),
    ).not.toThrow();
    expect(
      validate({ path, status: 404, body: body('1.2345678901234568e+29') }),
    ).toThrow('serial_number is written as 1.2345678901234568e+29');
  });

  it('rejects undocumented statuses', () => {
    const error = { message: 'Oh', request_id };
    expect(validate({ status: 500, body: error })).toThrow(
      'status 500 is not documented here',
    );
    expect(validate({ path: '/users/', status: 404, body: error })).toThrow(
      'status 404 is not documented here',
    );
    expect(validate({ status: 404, body: error })).toThrow(
      "body must have required property 'name'",
    );
    expect(validate({ status: 403, body: { message: 'No' } })).toThrow(
      "body must have required property 'request_id'",
    );
  });

  it('checks headers and content type', () => {
    const unavailable = { status: 503, body: { message: 'Away', request_id } };
    expect(validate(unavailable)).toThrow('header Retry-After is missing');
    const type = { 'content-type': 'application/json' };
    expect(
      validate({ ...unavailable, headers: { ...type, 'retry-after': 'soon' } }),
    ).toThrow('header Retry-After must be integer');
    expect(
      validate({ ...unavailable, headers: { ...type, 'retry-after': '5' } }),
    ).not.toThrow();
    expect(
      validate({
        ...unavailable,
        headers: new Headers({ ...type, 'Retry-After': '5' }),
      }),
    ).not.toThrow();
    expect(
      validate({ headers: { 'content-type': 'text/html' }, body: '<html>' }),
    ).toThrow('Content-Type is text/html, not application/json');
    expect(validate({ body: '<html>' })).toThrow('is not valid JSON');
  });

  it('requires an empty body in responses to HEAD', () => {
    expect(validate({ method: 'HEAD', body: '' })).not.toThrow();
    expect(validate({ method: 'HEAD', body: { result: user } })).toThrow(
      'the body is not empty',
    );
  });

  it('requires the common errors for other paths', () => {
    const error = { message: 'No', request_id };
    const unauthorized = {
      message: 'Unauthorized. You need to be logged in.',
      reason: 'no_credentials',
      request_id,
    };
    for (const path of ['/nothing/', '/Users/', '/certs/abc/', '/v1', '/']) {
      expect(validate({ path, status: 404, body: error })).not.toThrow();
      expect(validate({ path, status: 401, body: unauthorized })).not.toThrow();
      expect(validate({ path, body: { result: user } })).toThrow(
        'status 200 is not documented here',
      );
    }
    expect(
      validate({ path: '/nothing/', status: 404, body: { error } }),
    ).toThrow("body must have required property 'message'");
  });

  it('requires the `Allow` header in 405 and OPTIONS responses', () => {
    const refused = {
      method: 'POST',
      status: 405,
      body: { message: 'No', request_id },
    };
    const headers = (allow: string) => ({
      'content-type': 'application/json',
      allow,
    });
    expect(validate(refused)).toThrow('header Allow is missing');
    expect(validate({ ...refused, headers: headers('GET, OPTIONS') })).toThrow(
      'header Allow must match pattern',
    );
    expect(
      validate({ ...refused, headers: headers('OPTIONS, GET, HEAD') }),
    ).not.toThrow();
    expect(
      validate({
        method: 'OPTIONS',
        status: 204,
        headers: { allow: 'GET, HEAD, OPTIONS' },
        body: '',
      }),
    ).not.toThrow();
    expect(
      validate({ method: 'OPTIONS', status: 204, headers: {}, body: '' }),
    ).toThrow('header Allow is missing');
  });

  it('reports the request, the violations and the response', () => {
    expect(
      validate({ masked: true, body: { result: { locked: 'no', x: 1 } } }),
    ).toThrow(
      [
        'The contract does not allow this response to GET /users/alice/ (masked):',
        '  - body/result must NOT have additional properties (x)',
        '  - body/result/locked must be boolean',
        'Status 200, body: {"result":{"locked":"no","x":1}}',
      ].join('\n'),
    );
  });
});
