import fc from 'fast-check';
import { parseExactJson } from './rpc';

describe('parseExactJson', () => {
  it('keeps every digit of a whole number', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 160n), max: 2n ** 160n }),
        number => {
          const value = parseExactJson(`{"serial_number": ${number}}`);
          expect(value).toEqual({
            serial_number: Number.isSafeInteger(Number(number))
              ? Number(number)
              : number,
          });
        },
      ),
    );
  });

  it('parses everything else as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), value => {
        const exact = parseExactJson(JSON.stringify(value));
        const numbers = JSON.stringify(exact, (_, part) =>
          typeof part === 'bigint' ? Number(part) : part,
        );
        expect(numbers).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))));
      }),
    );
  });
});
