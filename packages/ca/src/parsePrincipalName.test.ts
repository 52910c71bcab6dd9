import * as fc from 'fast-check';
import { parsePrincipalName } from './makeCertificate';

describe('parsePrincipalName', () => {
  it.each([
    ['alice@EXAMPLE.TEST', ['alice'], 'EXAMPLE.TEST'],
    [
      'host/a.example.test@EXAMPLE.TEST',
      ['host', 'a.example.test'],
      'EXAMPLE.TEST',
    ],
    [String.raw`alice\@EXAMPLE.TEST@OTHER`, ['alice@EXAMPLE.TEST'], 'OTHER'],
    [String.raw`a\/b/c\\d@R`, ['a/b', String.raw`c\d`], 'R'],
  ])('reads %s', (text, components, realm) => {
    expect(parsePrincipalName(text)).toEqual({
      nameType: 1,
      components,
      realm,
    });
  });

  it.each([
    '',
    'alice',
    '@EXAMPLE.TEST',
    'alice@',
    'alice@A@B',
    '/alice@A',
    'alice/@A',
    'alice@A/B',
    String.raw`alice\n@A`,
    'alice@A\\',
  ])('refuses %j', text => {
    expect(() => parsePrincipalName(text)).toThrow(RangeError);
  });

  it('reads every name in Kerberos notation', () => {
    const part = fc.string({ minLength: 1 });
    const escape = (text: string) => text.replace(/[\\/@]/g, '\\$&');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        part,
        (components, realm) => {
          const text = `${components.map(escape).join('/')}@${escape(realm)}`;
          expect(parsePrincipalName(text)).toEqual({
            nameType: 1,
            components,
            realm,
          });
        },
      ),
    );
  });
});
