import fc from 'fast-check';
import { resolveFields, type RecordModel } from './fieldMask';

const model: RecordModel = {
  keys: ['username', 'emails', 'locked', 'uri'],
  lists: new Set(['emails']),
};

/** Returns the selected keys; none when the mask is invalid. */
function keysOrNone(header: string): readonly string[] {
  try {
    return resolveFields(header, model);
  } catch (error) {
    if ((error as Error).name === 'InvalidRequestError') {
      return [];
    }
    throw error;
  }
}

describe('resolveFields', () => {
  it.each([
    [undefined, ['username', 'emails', 'locked', 'uri']],
    ['', ['username', 'emails', 'locked', 'uri']],
    ['   ', ['username', 'emails', 'locked', 'uri']],
    ['{}', []],
    ['{username,emails}', ['username', 'emails']],
    ['emails,username', ['emails', 'username']],
    ['{username, emails}', ['username', 'emails']],
    [' username ', ['username']],
    ['username,', ['username']],
    ['username emails', ['username', 'emails']],
    ['username;emails/uri', ['username', 'emails', 'uri']],
    ['username,username', ['username']],
    ['uri,*', ['uri', 'username', 'emails', 'locked']],
    ['*', ['username', 'emails', 'locked', 'uri']],
    ['nope', []],
    ['nope{a,b},uri', ['uri']],
    ['USERNAME', []],
    ['emails{}', ['emails']],
    ['__proto__,constructor,uri', ['uri']],
    ['usernameé', []],
  ])('reads %j', (header, keys) => {
    expect(resolveFields(header, model)).toEqual(keys);
  });

  it.each([
    [',username', 'Mask parse error: Unexpected comma'],
    ['username,,uri', 'Mask parse error: Unexpected comma'],
    ['nope{,a}', 'Mask parse error: Unexpected comma'],
    ['{username', 'Mask parse error: Missing closing bracket'],
    ['{username},uri', 'Mask parse error: Missing closing bracket'],
    ['nope{a', 'Mask parse error: Missing closing bracket'],
    ['username}', 'Mask parse error: Unexpected closing bracket'],
    ['{username}{uri}', 'Mask parse error: Unexpected closing bracket'],
    ['{{username}}', 'Mask parse error: Unexpected opening bracket'],
    ['nope,{a}', 'Mask parse error: Unexpected opening bracket'],
    ['username{a}', 'Mask error: Mask is inconsistent with model'],
    ['username{}', 'Mask error: Mask is inconsistent with model'],
    ['emails{a}', 'Mask error: Mask is inconsistent with model'],
  ])('rejects %j', (header, message) => {
    expect(() => resolveFields(header, model)).toThrow(
      expect.objectContaining({ status: 400, body: { message } }),
    );
  });

  it('keeps the order of any subset, with braces or without', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...model.keys], { minLength: 1 }),
        fc.constantFrom('', ' ', ' \t'),
        fc.boolean(),
        (keys, space, braces) => {
          const list = keys.join(`${space},${space}`);
          const mask = braces ? `{${list}}` : list;
          expect(resolveFields(mask, model)).toEqual(keys);
        },
      ),
    );
  });

  it('returns distinct keys of the model or throws for any header', () => {
    const text = fc.string({
      unit: fc.constantFrom('{', '}', ',', '*', ' ', 'é', ...model.keys, 'x'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.oneof(text, text, text, fc.string()), header => {
        const keys = keysOrNone(header);
        expect(new Set(keys).size).toBe(keys.length);
        expect(model.keys).toEqual(expect.arrayContaining([...keys]));
      }),
    );
  });

  it('reads a mask of ten thousand levels without overflowing', () => {
    const deep = 'a{'.repeat(10_000) + '}'.repeat(10_000);
    expect(resolveFields(deep, model)).toEqual([]);
  });
});
