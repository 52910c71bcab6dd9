import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { userModel } from './presentRecords';

describe('the model of a user', () => {
  it('has the fields of the OpenAPI document in the same order', () => {
    const { schemas } = openApiDocument.components as {
      schemas: Record<string, { properties: object; required: string[] }>;
    };
    expect(Object.keys(schemas.MaskedUser.properties)).toEqual(userModel.keys);
    expect(schemas.User.required).toEqual(userModel.keys);
  });
});
