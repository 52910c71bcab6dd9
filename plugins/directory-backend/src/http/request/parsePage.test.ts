import fc from 'fast-check';
import { parseParameters } from './ParameterErrors';
import { parsePage } from './parsePage';

const parse = (query: URLSearchParams) =>
  parseParameters(errors => parsePage(query, errors));
const read = (query: string) => parse(new URLSearchParams(query));

/** The page, or the first page when the parser throws a 400. */
function pageOrDefault(query: URLSearchParams) {
  try {
    return parse(query);
  } catch (error) {
    if ((error as Error).name === 'InvalidRequestError') {
      return { size: 40, number: 1 };
    }
    throw error;
  }
}

describe('parsePage', () => {
  it.each([
    ['', { size: 40, number: 1 }],
    ['page_size=1&page_number=7', { size: 1, number: 7 }],
    ['page_size=1000', { size: 1000, number: 1 }],
    ['page_size=5&page_size=7', { size: 5, number: 1 }],
    ['PAGE_SIZE=5', { size: 40, number: 1 }],
    ['page_number=9000000000000', { size: 40, number: 9_000_000_000_000 }],
  ])('reads "%s"', (query, page) => {
    expect(read(query)).toEqual(page);
  });

  it.each([
    'page_size=0',
    'page_size=1001',
    'page_size=-1',
    'page_size=abc',
    'page_size=',
    'page_size=+5',
    'page_size=%2B5',
    'page_size=1e2',
    'page_size=0x10',
    'page_size=5.0',
    'page_size=٥',
    'page_number=0',
    'page_number=99999999999999999999',
  ])('rejects "%s" and names the parameter', query => {
    const name = query.split('=')[0];
    expect(() => read(query)).toThrow(
      expect.objectContaining({
        status: 400,
        body: {
          message: 'Input payload validation failed',
          errors: { [name]: expect.stringContaining('whole number') },
        },
      }),
    );
  });

  it('names every malformed parameter', () => {
    expect(() => read('page_size=x&page_number=y')).toThrow(
      expect.objectContaining({
        body: expect.objectContaining({
          errors: {
            page_size: expect.any(String),
            page_number: expect.any(String),
          },
        }),
      }),
    );
  });

  it('returns numbers within bounds or rejects', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (size, number) => {
        const query = new URLSearchParams({
          page_size: size,
          page_number: number,
        });
        const page = pageOrDefault(query);
        expect(page.size).toBeGreaterThanOrEqual(1);
        expect(page.size).toBeLessThanOrEqual(1000);
        expect(Number.isSafeInteger((page.number - 1) * page.size)).toBe(true);
      }),
    );
  });
});
