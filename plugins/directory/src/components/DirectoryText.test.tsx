import { visibleText } from './DirectoryText';

describe('visibleText', () => {
  it.each([
    ['Alice\u202egnp.exe', 'Alice[U+202E]gnp.exe'],
    [
      '\u2066a\u2069\u200e\u200f\u061c',
      '[U+2066]a[U+2069][U+200E][U+200F][U+061C]',
    ],
    ['a\u200bl\u200ci\u200dce\ufeff', 'a[U+200B]l[U+200C]i[U+200D]ce[U+FEFF]'],
    ['a\u0000\u001b[1m\u0085\u2028', 'a[U+0000][U+001B][1m[U+0085][U+2028]'],
    ['\u3164\u00ad\u{e0041}', '[U+3164][U+00AD][U+E0041]'],
  ])('replaces invisible characters in %j', (value, shown) => {
    expect(visibleText(value)).toBe(shown);
  });

  it.each([
    'Erin Ünï 李明 🦊',
    '\u05d3\u05d5\u05d3',
    '\ud83d\udc69\ud83c\udffd\u200d\ud83d\udcbb\ufe0f',
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u0915\u094d\u200d\u0937',
    'he/him',
    '',
  ])('keeps %j', value => {
    expect(visibleText(value)).toBe(value);
  });
});
