import fc from 'fast-check';
import { checkPrincipal } from './checkPrincipal';

const service = 'HTTP/portal.example.test@EXAMPLE.TEST';
const check = (principal: string, realms: string[] = []) =>
  checkPrincipal({ principal, service, realm: 'EXAMPLE.TEST', realms });

/** A name in the format of krb5_unparse_name, without U+FFFD. */
const name = () =>
  fc
    .string({ unit: 'grapheme', minLength: 1 })
    .map(text => text.replace(/[\\@/]/g, '\\$&'))
    .filter(
      text => !text.startsWith('WELLKNOWN') && !/[\p{C}\uFFFD]/u.test(text),
    );
const realm = () => fc.stringMatching(/^[A-Z][A-Z0-9.-]{0,20}$/);

describe('checkPrincipal', () => {
  it("accepts the portal's own realm and listed realms only", () => {
    fc.assert(
      fc.property(name(), realm(), realm(), (user, home, listed) => {
        const own = home === 'EXAMPLE.TEST';
        expect(check(`${user}@EXAMPLE.TEST`)).toBeUndefined();
        expect(check(`${user}@${home}`, [home])).toBeUndefined();
        expect(check(`${user}@${home}`, [listed])).toBe(
          own || home === listed ? undefined : 'realm_refused',
        );
      }),
    );
  });

  it.each([
    'alice@OTHER.TEST',
    'alice@example.test',
    'alice@EXAMPLE.TEST.',
    'alice@XEXAMPLE.TEST',
    'alice\\@EXAMPLE.TEST@OTHER.TEST',
    'alice@EXAMPLE.TEST\\@OTHER.TEST',
  ])('does not accept %s as alice', principal => {
    expect(check(principal)).toBe('realm_refused');
  });

  it('accepts services, hosts and enterprise names', () => {
    expect(check('host/build1.example.test@EXAMPLE.TEST')).toBeUndefined();
    expect(check('alice\\@corp.test@EXAMPLE.TEST')).toBeUndefined();
  });

  it.each([
    'WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS',
    'WELLKNOWN/ANONYMOUS@EXAMPLE.TEST',
  ])('refuses the anonymous principal %s', principal => {
    expect(check(principal, ['WELLKNOWN:ANONYMOUS'])).toBe('realm_refused');
  });

  it.each(['', 'alice', '@EXAMPLE.TEST', 'alice@', 'a@b@c', 'al\uFFFDce@A.B'])(
    'refuses %p, which is not an unambiguous principal',
    principal => {
      expect(check(principal)).toBe('malformed_token');
    },
  );

  it.each([
    ['alice@OTHER.TEST', 'OTHER.TEST', [], 'realm_refused'],
    ['alice@OTHER.TEST', 'OTHER.TEST', ['OTHER.TEST'], undefined],
    ['alice@OTHER.TEST', 'EXAMPLE.TEST', ['OTHER.TEST'], undefined],
    // The KDC of OTHER.TEST does not vouch for users of another realm.
    ['alice@EXAMPLE.TEST', 'OTHER.TEST', ['OTHER.TEST'], 'realm_refused'],
    ['alice@THIRD.TEST', 'OTHER.TEST', ['THIRD.TEST'], 'realm_refused'],
  ])(
    'for %s with a ticket for HTTP/portal@%s and realms %j, returns %s',
    (principal, keyRealm, realms, reason) => {
      expect(
        checkPrincipal({
          principal,
          service: `HTTP/portal@${keyRealm}`,
          realm: 'EXAMPLE.TEST',
          realms,
        }),
      ).toBe(reason);
    },
  );

  it("refuses the realm of the key while the portal's own realm is not known", () => {
    const options = { principal: 'alice@A.TEST', service: 'HTTP/x@A.TEST' };
    expect(
      checkPrincipal({ ...options, realm: undefined, realms: ['B.TEST'] }),
    ).toBe('realm_refused');
    expect(
      checkPrincipal({ ...options, realm: undefined, realms: ['A.TEST'] }),
    ).toBeUndefined();
  });

  it('refuses a ticket for another service of the host', () => {
    for (const other of ['nfs/portal@A.TEST', 'host/HTTP/x@A.TEST', 'HTTP@A']) {
      expect(
        checkPrincipal({
          principal: 'a@A.TEST',
          service: other,
          realm: 'A.TEST',
          realms: [],
        }),
      ).toBe('unknown_service_key');
    }
    expect(
      checkPrincipal({
        principal: 'a@A.TEST',
        service: 'http/portal@A.TEST',
        realm: 'A.TEST',
        realms: [],
      }),
    ).toBeUndefined();
  });
});
