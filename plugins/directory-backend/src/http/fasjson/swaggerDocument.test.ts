import SwaggerParser from '@apidevtools/swagger-parser';
import type { OpenAPI, OpenAPIV2 } from 'openapi-types';
import type { RecordModel } from '../response/fieldMask';
import { groupModel, userGroupModel } from '../response/presentRecords';
import shape from './__fixtures__/spec-shape.json';
import {
  fasjsonCertificateModel,
  fasjsonMemberModel,
  fasjsonUserModel,
} from './presentFasjson';
import { swaggerDocument } from './swaggerDocument';

describe('swaggerDocument', () => {
  it('has the structure of FASJSON’s document', () => {
    expect(withoutTexts(swaggerDocument('/v1'))).toEqual(shape);
  });

  it('is a valid Swagger 2.0 document', async () => {
    const copy = structuredClone(swaggerDocument('/v1'));
    await expect(
      SwaggerParser.validate(copy as OpenAPI.Document),
    ).resolves.toBeDefined();
  });

  it('has the given base path', () => {
    const { basePath } = swaggerDocument('/fasjson/v1');
    expect(basePath).toBe('/fasjson/v1');
  });

  it.each<[string, RecordModel]>([
    ['User', fasjsonUserModel],
    ['UserGroup', userGroupModel],
    ['Group', groupModel],
    ['Member', { ...fasjsonMemberModel, keys: fasjsonUserModel.keys }],
    ['Sponsor', { ...fasjsonMemberModel, keys: fasjsonUserModel.keys }],
    ['Cert', fasjsonCertificateModel],
  ])('describes the keys, lists and mask of %s', (name, model) => {
    const definition = swaggerDocument('/v1').definitions![name];
    const properties = Object.entries(definition.properties!);
    expect(properties.map(([key]) => key)).toEqual(model.keys);
    const lists = properties.filter(([, { type }]) => type === 'array');
    expect(lists.map(([key]) => key)).toEqual(
      model.keys.filter(key => model.lists.has(key)),
    );
    expect((definition as Record<string, unknown>)['x-mask']).toEqual(
      model.defaults && `{${model.defaults.join()}}`,
    );
  });
});

/** A document without summaries and descriptions, which the fixture omits. */
function withoutTexts(document: OpenAPIV2.Document): unknown {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    ['summary', 'description'].includes(key) && typeof value === 'string'
      ? undefined
      : value,
  );
}
