import fc from 'fast-check';
import { cacheSerialized, SerializedJson, writeJson } from './json';

describe('writeJson', () => {
  it('returns the same text as JSON.stringify, with or without serialized parts', () => {
    const written = fc
      .jsonValue({ stringUnit: 'binary' })
      .map(value => new SerializedJson(JSON.stringify(value)));
    const values = fc.oneof(
      written,
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.record({ result: written, page: fc.nat() }),
      fc.record({
        result: fc.array(fc.oneof(written, fc.jsonValue())),
        next: fc.option(fc.string(), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(values, value => {
        expect(writeJson(value).toString()).toBe(JSON.stringify(value));
      }),
    );
  });

  it('writes undefined list items as null', () => {
    const list = [undefined, new SerializedJson('1')];
    expect(writeJson(list).toString()).toBe('[null,1]');
  });
});

describe('cacheSerialized', () => {
  const whole = ['name', 'mail'];

  it('presents each record once', () => {
    const present = jest.fn((record: { name: string }) => ({ ...record }));
    const once = cacheSerialized(whole, present);
    const alice = { name: 'alice' };
    expect(writeJson(once(alice, whole)).toString()).toBe('{"name":"alice"}');
    expect(once(alice, whole)).toBe(once(alice, whole));
    expect(present).toHaveBeenCalledTimes(1);
    // A changed or redacted record is another object.
    once({ name: 'alice' }, whole);
    expect(present).toHaveBeenCalledTimes(2);
  });

  it('does not cache records with a field mask', () => {
    const once = cacheSerialized(whole, (record: { name: string }, keys) => ({
      [keys[0]]: record.name,
    }));
    const alice = { name: 'alice' };
    once(alice, whole);
    expect(once(alice, ['mail', 'name'])).toEqual({ mail: 'alice' });
  });
});
