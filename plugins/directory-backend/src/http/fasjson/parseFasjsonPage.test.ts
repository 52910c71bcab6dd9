import fc from 'fast-check';
import { InvalidRequestError } from '../../apiErrors';
import { parseParameters } from '../request/ParameterErrors';
import { parseFasjsonPage, parseFasjsonSearchPage } from './parseFasjsonPage';

const page = (query: string) =>
  parseParameters(errors =>
    parseFasjsonPage(new URLSearchParams(query), errors),
  );
const searchPage = (query: string) =>
  parseParameters(errors =>
    parseFasjsonSearchPage(new URLSearchParams(query), errors),
  );

function refusal(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return (error as InvalidRequestError).body;
  }
}

describe('parseFasjsonPage', () => {
  it.each(['', 'page_size=0', 'page_number=3', 'page_size=0&page_number=-1'])(
    'does not paginate "%s"',
    query => expect(page(query)).toBeUndefined(),
  );

  it.each([
    ['page_size=5&page_size=7', { size: 5, number: 1 }],
    ['page_size=+5&page_number= 2 ', { size: 5, number: 2 }],
    ['page_size=%2B1_000', { size: 1000, number: 1 }],
    [
      'page_size=99999999999999999999&page_number=99999999999999999999',
      { size: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER },
    ],
  ])('parses "%s"', (query, expected) => expect(page(query)).toEqual(expected));

  it.each([
    [
      'page_size=abc',
      'page_size',
      "Page size. invalid literal for int() with base 10: 'abc'",
    ],
    [
      "page_size=it's",
      'page_size',
      'Page size. invalid literal for int() with base 10: "it\'s"',
    ],
    [
      'page_number=1.5',
      'page_number',
      "Page number. invalid literal for int() with base 10: '1.5'",
    ],
    ['page_size=-5', 'page_size', 'Page size. Must be 0 or more.'],
    [
      'page_size=5&page_number=0',
      'page_number',
      'Page number. Must be 1 or more.',
    ],
  ])('rejects "%s"', (query, name, sentence) =>
    expect(refusal(() => page(query))).toEqual({
      message: 'Input payload validation failed',
      errors: { [name]: sentence },
    }),
  );

  it.each([
    [
      'page_size=abc&page_number=xyz',
      "Page size. invalid literal for int() with base 10: 'abc'",
      "Page number. invalid literal for int() with base 10: 'xyz'",
    ],
  ])('reports both invalid parameters of "%s"', (query, size, number) =>
    expect(refusal(() => page(query))).toEqual({
      message: 'Input payload validation failed',
      errors: { page_size: size, page_number: number },
    }),
  );

  it('parses every integer from 0 and rejects other values', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const query = new URLSearchParams({ page_size: text });
        let read: unknown;
        try {
          read = page(String(query))?.size ?? 0;
        } catch (error) {
          read = (error as Error).name;
        }
        const digits = /^\s*[+-]?\d+\s*$/.test(text);
        const value = digits ? Number(text) : NaN;
        expect(read).toBe(value >= 0 ? Math.abs(value) : 'InvalidRequestError');
      }),
    );
  });
});

describe('parseFasjsonSearchPage', () => {
  it('paginates without parameters', () =>
    expect(searchPage('')).toEqual({ size: 40, number: 1 }));

  it.each(['0', '41', '-1'])('rejects the page size %s', size =>
    expect(refusal(() => searchPage(`page_size=${size}`))).toMatchObject({
      message: 'Page size must be between 1 and 40 when searching.',
    }),
  );
});
