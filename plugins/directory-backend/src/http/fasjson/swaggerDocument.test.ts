import SwaggerParser from '@apidevtools/swagger-parser';
import type { OpenAPI } from 'openapi-types';
import shape from './__fixtures__/spec-shape.json';
import { swaggerDocument } from './swaggerDocument';

/** The document as a client receives it. */
const served = () =>
  JSON.parse(JSON.stringify(swaggerDocument({ basePath: '/v1' })));

describe('swaggerDocument', () => {
  it('has the structure of FASJSON’s document', () => {
    expect(withoutTexts(served())).toEqual(shape);
  });

  it('is a valid Swagger 2.0 document', async () => {
    await expect(
      SwaggerParser.validate(served() as OpenAPI.Document),
    ).resolves.toBeDefined();
  });

  it('is served below the given path', () => {
    const { basePath } = swaggerDocument({ basePath: '/fasjson/v1' });
    expect(basePath).toBe('/fasjson/v1');
  });
});

/** A document without summaries and descriptions, which the fixture leaves out. */
function withoutTexts(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    ['summary', 'description'].includes(key) && typeof value === 'string'
      ? undefined
      : value,
  );
}
