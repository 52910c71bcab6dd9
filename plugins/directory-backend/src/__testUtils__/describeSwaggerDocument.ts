/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import SwaggerParser from '@apidevtools/swagger-parser';
import type { OpenAPI } from 'openapi-types';
import SwaggerClient from 'swagger-client';
import { makeCsr } from './makeCsr';
import type { Site } from './withGateway';

const MOUNT = '/api/directory/fasjson';

/** An operation of the document, by its id. */
interface Described {
  readonly operationId: string;
  readonly security?: unknown;
  readonly parameters: readonly Record<string, unknown>[];
}

interface SwaggerDocument {
  readonly basePath: string;
  readonly paths: Readonly<Record<string, Record<string, Described>>>;
  readonly definitions: Readonly<
    Record<string, { properties: Record<string, object> }>
  >;
}

/** What lists and records look like in this dialect. */
interface Body {
  readonly result: Record<string, unknown> & Record<string, unknown>[];
}

/** FASJSON's own document, and a client made of it, as tests. */
export function describeSwaggerDocument(site: Site): void {
  describe('the Swagger document', () => {
    let document: SwaggerDocument;
    let operations: readonly Described[];

    beforeAll(async () => {
      const { json } = await site.client.ask('/fasjson/specs/v1.json');
      document = json as SwaggerDocument;
      operations = Object.values(document.paths).flatMap(item =>
        Object.values(item),
      );
    });

    it('is valid', async () => {
      const copy = structuredClone(document) as unknown;
      await expect(
        SwaggerParser.validate(copy as OpenAPI.Document),
      ).resolves.toBeDefined();
    });

    it('has the thirteen operations of the reference, and no more', () => {
      expect(operations.map(({ operationId }) => operationId).sort()).toEqual([
        ...['check_membership', 'get_cert', 'get_group', 'get_user'],
        ...['list_group_members', 'list_group_sponsors', 'list_groups'],
        ...['list_user_agreements', 'list_user_groups', 'list_users'],
        ...['search', 'sign_csr', 'whoami'],
      ]);
      expect(document.basePath).toBe(`${MOUNT}/v1`);
    });

    it('has parameters as clients of the reference send them', () => {
      const named = (id: string, name: string) =>
        operations
          .find(({ operationId }) => operationId === id)!
          .parameters.find(parameter => parameter.name === name);
      expect(named('list_users', 'X-Fields')).toMatchObject({
        ...{ in: 'header', type: 'string', format: 'mask' },
      });
      expect(named('search', 'group')).toMatchObject({
        ...{ in: 'query', type: 'array', collectionFormat: 'multi' },
      });
      for (const name of ['user', 'csr']) {
        expect(named('sign_csr', name)).toMatchObject({
          ...{ in: 'query', type: 'string', required: true },
        });
      }
      expect(named('sign_csr', 'dry_run')).toBeUndefined();
      expect(named('list_group_members', 'membership')).toBeUndefined();
      expect(named('check_membership', 'X-Fields')).toBeUndefined();
      expect(named('get_user', 'username')).toMatchObject({ required: true });
    });

    it('lets every key of an answer be what it is', async () => {
      const { User, Me, Certificate } = document.definitions;
      const dave = await site.client.ask('/fasjson/v1/users/dave/', {
        as: 'alice',
      });
      const { result: user } = dave.json as Body;
      expect(Object.keys(User.properties).sort()).toEqual(
        Object.keys(user).sort(),
      );
      const missing = Object.keys(user).filter(key => user[key] === null);
      expect(missing).not.toEqual([]);
      for (const key of missing) {
        expect(User.properties[key]).toMatchObject({ 'x-nullable': true });
      }
      expect(Me.properties.service).toMatchObject({ 'x-nullable': true });
      expect(Certificate.properties.revoked).toMatchObject({
        ...{ type: 'boolean', 'x-nullable': true },
      });
    });

    it('makes a client that performs all operations with a ticket', async () => {
      const userFetch = async (
        url: string,
        { method, headers, body }: RequestInit,
      ) => {
        const { pathname, search } = new URL(url);
        const answer = await site.client.ask(
          `${pathname.replace('/api/directory', '')}${search}`,
          {
            ...{ as: 'alice', method },
            headers: headers as Record<string, string>,
            ...(typeof body === 'string' ? { body } : {}),
          },
        );
        return new Response(answer.text, {
          ...{ status: answer.status, headers: answer.headers },
        });
      };
      const made = await SwaggerClient({
        url: `${site.gateway.baseUrl}${MOUNT}/specs/v1.json`,
        requestInterceptor: request => Object.assign(request, { userFetch }),
      });
      const perform = async (
        operationId: string,
        parameters: Record<string, unknown> = {},
      ): Promise<Body> =>
        (await made.execute({ operationId, parameters })).body as Body;

      const alice = { username: 'alice' };
      const packager = { groupname: 'packager' };
      expect((await perform('whoami')).result).toMatchObject(alice);
      expect((await perform('get_user', alice)).result).toMatchObject(alice);
      expect((await perform('list_users')).result.length).toBeGreaterThan(190);
      expect(
        (await perform('list_user_groups', alice)).result.length,
      ).toBeGreaterThan(0);
      expect((await perform('list_user_agreements', alice)).result).toEqual(
        expect.any(Array),
      );
      expect((await perform('list_groups')).result).toContainEqual(
        expect.objectContaining(packager),
      );
      expect((await perform('get_group', packager)).result).toMatchObject(
        packager,
      );
      expect(
        (await perform('list_group_members', packager)).result,
      ).toContainEqual(expect.objectContaining(alice));
      expect((await perform('list_group_sponsors', packager)).result).toEqual(
        expect.any(Array),
      );
      expect(
        (await perform('check_membership', { ...packager, ...alice })).result,
      ).toBe(true);
      const found = await perform('search', {
        ...{ username: 'ali', group: ['packager'] },
        'X-Fields': 'username',
      });
      expect(found.result).toContainEqual(alice);
      const signed = await perform('sign_csr', {
        ...{ user: 'alice', csr: makeCsr({ subject: '/CN=alice' }) },
      });
      expect(signed.result).toMatchObject({ revoked: null });
      const serial = /(\d+)\/$/.exec(String(signed.result.uri))![1];
      const read = await perform('get_cert', { serial_number: serial });
      expect(read.result).toMatchObject({
        ...{ revoked: false, certificate: signed.result.certificate },
      });
    });
  });
}
