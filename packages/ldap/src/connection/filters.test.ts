import fc from 'fast-check';
import { equals } from './filters';

describe('equals', () => {
  it('escapes every special character of filters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), value => {
        const filter = equals('mail', value).toString();
        expect(filter).toMatch(/^\(mail=[^()*\0]*\)$/);
      }),
    );
    expect(equals('mail', 'x)(uid=*').toString()).toBe(
      '(mail=x\\29\\28uid=\\2a)',
    );
  });
});
