import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020';
import type { OpenAPIV3_1 } from 'openapi-types';
import { openApiDocument } from './openApiDocument';

const operations = Object.entries(openApiDocument.paths ?? {}).flatMap(
  ([path, item]) =>
    (['get', 'post', 'put'] as const).flatMap(method =>
      item?.[method] ? [{ path, method, ...item[method] }] : [],
    ),
);

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addFormat('bigint', { type: 'number', validate: Number.isInteger });
ajv.addVocabulary([...Object.keys(openApiDocument), 'x-extension']);
ajv.addSchema(openApiDocument, 'contract');

function faults(schema: string, value: unknown) {
  const validate = ajv.getSchema(`contract#/components/schemas/${schema}`)!;
  validate(value);
  return validate.errors ?? [];
}

describe('openApiDocument', () => {
  it('is OpenAPI 3.1, with every reference resolved', async () => {
    const validator = new Validator();
    const document = structuredClone(openApiDocument);
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it('has each operation of the contract exactly once', () => {
    const ofContract = operations.filter(operation => !isExtension(operation));
    expect(ofContract).toHaveLength(13);
    expect(titles(ofContract)).toEqual({
      whoami: 'get /me/',
      list_users: 'get /users/',
      get_user: 'get /users/{username}/',
      list_user_groups: 'get /users/{username}/groups/',
      list_user_agreements: 'get /users/{username}/agreements/',
      list_groups: 'get /groups/',
      get_group: 'get /groups/{groupname}/',
      list_group_members: 'get /groups/{groupname}/members/',
      list_group_sponsors: 'get /groups/{groupname}/sponsors/',
      check_membership: 'get /groups/{groupname}/is-member/{username}',
      search: 'get /search/users/',
      sign_csr: 'post /certs/',
      get_cert: 'get /certs/{serial_number}/',
    });
  });

  it('marks all other operations as extensions', () => {
    expect(titles(operations.filter(isExtension))).toEqual({
      get_account: 'get /accounts/{principal}/',
      get_operations: 'get /me/operations/',
      list_colleagues: 'get /me/colleagues/',
      list_user_memberships: 'get /users/{username}/memberships/',
      list_sponsored_groups: 'get /users/{username}/sponsored-groups/',
      list_user_certificates: 'get /users/{username}/certificates/',
      list_group_memberships: 'get /groups/{groupname}/memberships/',
      list_member_groups: 'get /groups/{groupname}/member-groups/',
      export_group_members: 'get /groups/{groupname}/members.csv',
      search_groups: 'get /search/groups/',
      list_changes: 'get /changes/',
      list_group_history: 'get /groups/{groupname}/history/',
      list_user_history: 'get /users/{username}/history/',
      list_certificate_profiles: 'get /certs/profiles/',
      revoke_cert: 'post /certs/{serial_number}/revocation/',
      renew_cert: 'post /certs/{serial_number}/renewal/',
      label_cert: 'put /certs/{serial_number}/label/',
    });
  });

  it('has a mask parameter for all operations that return records', () => {
    const mask = { $ref: '#/components/parameters/Fields' };
    const unmasked = operations
      .filter(({ parameters = [] }) => !parameters.some(isSame(mask)))
      .map(({ operationId }) => operationId);
    expect(unmasked).toEqual([
      'get_account',
      'get_operations',
      'check_membership',
      'list_group_history',
      'list_user_history',
      'list_changes',
    ]);
  });

  it('has examples that match their schemas', () => {
    const schemas = Object.entries(openApiDocument.components?.schemas ?? {});
    const checked = schemas.flatMap(([name, schema]) =>
      ((schema as { examples?: unknown[] }).examples ?? []).map(example => ({
        name,
        faults: faults(name, example),
      })),
    );
    expect(checked.length).toBeGreaterThan(10);
    expect(checked.filter(({ faults: found }) => found.length > 0)).toEqual([]);
  });

  it('has examples of errors that match their schemas', () => {
    const responses = Object.values(
      openApiDocument.components?.responses ?? {},
    );
    const bodies = responses.flatMap(response =>
      Object.values((response as OpenAPIV3_1.ResponseObject).content ?? {}),
    );
    const checked = bodies.flatMap(({ schema, examples }) => {
      const [name] = (schema as OpenAPIV3_1.ReferenceObject).$ref
        .split('/')
        .slice(-1);
      return Object.values(examples ?? {}).map(example =>
        faults(name, (example as OpenAPIV3_1.ExampleObject).value),
      );
    });
    expect(checked.length).toBeGreaterThan(5);
    expect(checked.flat()).toEqual([]);
  });

  it('is up to date with openapi.yaml, like the types', async () => {
    const script = join(__dirname, '../scripts/generate.mjs');
    const check = promisify(execFile)(process.execPath, [script, '--check']);
    await expect(check).resolves.toMatchObject({ stderr: '' });
  }, 120_000);
});

function isExtension(operation: object) {
  return 'x-extension' in operation;
}

function titles(some: typeof operations) {
  return Object.fromEntries(
    some.map(({ operationId, method, path }) => [
      operationId,
      `${method} ${path}`,
    ]),
  );
}

function isSame(expected: object) {
  return (value: object) => JSON.stringify(value) === JSON.stringify(expected);
}
