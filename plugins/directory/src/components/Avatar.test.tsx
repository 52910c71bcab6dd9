import { hueOf, initialsOf } from './Avatar';

describe('initialsOf', () => {
  it.each([
    ['Karl Larsson', 'K L'],
    ['Mary Jane D’Angelo', 'M D'],
    ['karl', 'k'],
    ['john.doe', 'j d'],
    ['Erin Ünï 李明 🦊', 'E 李'],
    ['𐐨𐐩 fox', 'f'],
    ['🦊', ''],
    ['Rick "R*" \\ <x>', 'R x'],
    ['Florence Andre \\', 'F A'],
    ['太郎', '太'],
    ['  ', ''],
  ])('abbreviates %j to %j', (name, initials) => {
    expect(initialsOf(name)).toBe(initials);
  });
});

describe('hueOf', () => {
  it('ignores case and covers all colors', () => {
    const names = Array.from({ length: 200 }, (_, index) => `user${index}`);
    expect(hueOf('Karl')).toBe(hueOf('karl'));
    expect(new Set(names.map(hueOf)).size).toBe(8);
  });
});
