import fc from 'fast-check';
import { cleanText } from './cleanText';

/** UTF-16 code units, with control characters and halves of pairs. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xa0 }),
      fc.integer({ min: 0xd7ff, max: 0xe000 }),
      fc.constantFrom(0xd83d, 0xde00, 0xfffd, 0xffff),
    ),
  )
  .map(units => String.fromCharCode(...units));

const isForbidden = (character: string) => {
  const code = character.codePointAt(0)!;
  return (
    (code < 0x20 && !'\t\n\r'.includes(character)) ||
    (code >= 0x7f && code < 0xa0) ||
    (code >= 0xd800 && code <= 0xdfff)
  );
};

describe('cleanText', () => {
  it.each([
    ['Name\0With\u001b[1m\u0085\u007f', 'Name�With�[1m��'],
    ['half \ud83d or \ude00 of 😀', 'half � or � of 😀'],
    ['two\r\n\tlines', 'two\r\n\tlines'],
  ])('cleans %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it('does not split surrogate pairs', () => {
    expect(cleanText('a😀b', 2)).toBe('a');
    expect(cleanText('a😀b', 3)).toBe('a😀');
  });

  it('replaces exactly the forbidden characters', () => {
    fc.assert(
      fc.property(anyText, text => {
        const expected = Array.from(text, character =>
          isForbidden(character) ? '\ufffd' : character,
        );
        expect(cleanText(text)).toBe(expected.join(''));
      }),
    );
  });

  it('returns the longest prefix of whole characters, and is idempotent', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 12 }), (text, maxLength) => {
        const whole = cleanText(text);
        const cleaned = cleanText(text, maxLength);
        const [next = ''] = whole.slice(cleaned.length);
        expect(whole.startsWith(cleaned)).toBe(true);
        expect(cleaned.length).toBeLessThanOrEqual(maxLength);
        expect(next === '' || cleaned.length + next.length > maxLength).toBe(
          true,
        );
        expect(Array.from(cleaned).some(isForbidden)).toBe(false);
        expect(cleanText(cleaned, maxLength)).toBe(cleaned);
      }),
    );
  });
});
