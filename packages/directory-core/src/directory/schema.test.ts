import { schemaPreset, userFieldNames } from './schema';

describe('the attribute table', () => {
  it('does not use attributes of freeipa-fas for FreeIPA alone', () => {
    const { users, userClass } = schemaPreset('freeipa');
    const attributes = userFieldNames.map(name => users[name].attribute);
    expect(attributes.filter(name => name?.startsWith('fas'))).toEqual([]);
    expect(users.creation.attribute).toBe('createTimestamp');
    expect(users.is_private.attribute).toBeUndefined();
    expect(userClass).toBe('posixAccount');
  });
});
