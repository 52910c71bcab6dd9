import fc from 'fast-check';
import { entityNameOf } from './entityNameOf';

const names = fc.stringMatching(/^[A-Za-z0-9_.][A-Za-z0-9_. -]{0,254}\$?$/);

describe('entityNameOf', () => {
  it.each(['alice', 'Alice', 'a', 'web-team', 'sysadmin_main', 'x.y--z'])(
    'keeps the valid name %s',
    name => {
      expect(entityNameOf(name)).toBe(name);
    },
  );

  it.each([
    ['trust admins', 'trust-admins'],
    ['_builder', 'builder'],
    ['host$', 'host'],
    ['___', 'x'],
    ['a'.repeat(64), 'a'.repeat(45)],
  ])('maps %s to a readable name with digits', (name, readable) => {
    expect(entityNameOf(name)).toMatch(
      new RegExp(`^${readable}--[0-9a-f]{16}$`),
    );
  });

  it('maps names that look like mapped names', () => {
    const mapped = entityNameOf('trust admins');
    expect(entityNameOf(mapped)).not.toBe(mapped);
    expect(entityNameOf(mapped.toUpperCase()).toLowerCase()).not.toBe(mapped);
  });

  it('returns a valid entity name for every name', () => {
    fc.assert(
      fc.property(names, name => {
        const result = entityNameOf(name);
        expect(result.length).toBeLessThanOrEqual(63);
        expect(result).toMatch(/^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/);
      }),
    );
  });

  it('ignores case', () => {
    fc.assert(
      fc.property(names, name => {
        expect(entityNameOf(name.toUpperCase()).toLowerCase()).toBe(
          entityNameOf(name.toLowerCase()).toLowerCase(),
        );
      }),
    );
  });

  it('returns different names for different names', () => {
    fc.assert(
      fc.property(names, names, (a, b) => {
        fc.pre(a.toLowerCase() !== b.toLowerCase());
        expect(entityNameOf(a).toLowerCase()).not.toBe(
          entityNameOf(b).toLowerCase(),
        );
      }),
    );
  });
});
