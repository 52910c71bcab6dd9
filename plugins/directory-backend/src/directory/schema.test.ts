import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { userModel } from '../http/response/presentRecords';
import { schemaPreset, userFieldNames } from './schema';

describe('the attribute table', () => {
  it('has the fields of the OpenAPI document in the same order', () => {
    const { schemas } = openApiDocument.components as {
      schemas: Record<string, { properties: object; required: string[] }>;
    };
    expect(Object.keys(schemas.MaskedUser.properties)).toEqual(userModel.keys);
    expect(schemas.User.required).toEqual(userModel.keys);
  });

  it('does not use attributes of freeipa-fas for FreeIPA alone', () => {
    const { users, userClass } = schemaPreset('freeipa');
    const attributes = userFieldNames.map(name => users[name].attribute);
    expect(attributes.filter(name => name?.startsWith('fas'))).toEqual([]);
    expect(users.creation.attribute).toBe('createTimestamp');
    expect(users.is_private.attribute).toBeUndefined();
    expect(userClass).toBe('posixAccount');
  });
});
