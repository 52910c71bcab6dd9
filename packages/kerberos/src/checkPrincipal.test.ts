import fc from 'fast-check';
import { judgePrincipal } from './checkPrincipal';

const service = 'HTTP/portal.example.test@EXAMPLE.TEST';
const judge = (principal: string, realms: string[] = []) =>
  judgePrincipal({ principal, service, realm: 'EXAMPLE.TEST', realms });

/** A name as krb5_unparse_name writes it. U+FFFD, which stands for no UTF-8, has a test of its own. */
const name = () =>
  fc
    .string({ unit: 'grapheme', minLength: 1 })
    .map(text => text.replace(/[\\@/]/g, '\\$&'))
    .filter(
      text => !text.startsWith('WELLKNOWN') && !/[\p{C}\uFFFD]/u.test(text),
    );
const realm = () => fc.stringMatching(/^[A-Z][A-Z0-9.-]{0,20}$/);

describe('judgePrincipal', () => {
  it("admits the portal's own realm, and of others only those that are listed", () => {
    fc.assert(
      fc.property(name(), realm(), realm(), (user, home, listed) => {
        const own = home === 'EXAMPLE.TEST';
        expect(judge(`${user}@EXAMPLE.TEST`)).toBeUndefined();
        expect(judge(`${user}@${home}`, [home])).toBeUndefined();
        expect(judge(`${user}@${home}`, [listed])).toBe(
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
  ])('never takes %s for alice', principal => {
    expect(judge(principal)).toBe('realm_refused');
  });

  it('admits services, hosts and enterprise names', () => {
    expect(judge('host/build1.example.test@EXAMPLE.TEST')).toBeUndefined();
    expect(judge('alice\\@corp.test@EXAMPLE.TEST')).toBeUndefined();
  });

  it.each([
    'WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS',
    'WELLKNOWN/ANONYMOUS@EXAMPLE.TEST',
  ])('does not admit %s, who is nobody', principal => {
    expect(judge(principal, ['WELLKNOWN:ANONYMOUS'])).toBe('realm_refused');
  });

  it.each(['', 'alice', '@EXAMPLE.TEST', 'alice@', 'a@b@c', 'al\uFFFDce@A.B'])(
    'does not admit %p, which is no unambiguous principal',
    principal => {
      expect(judge(principal)).toBe('malformed_token');
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
    'judges %s by the key of HTTP/portal@%s with the realms %j: %s',
    (principal, keyRealm, realms, reason) => {
      expect(
        judgePrincipal({
          principal,
          service: `HTTP/portal@${keyRealm}`,
          realm: 'EXAMPLE.TEST',
          realms,
        }),
      ).toBe(reason);
    },
  );

  it('refuses the realm of the key while the own realm is not known', () => {
    const options = { principal: 'alice@A.TEST', service: 'HTTP/x@A.TEST' };
    expect(
      judgePrincipal({ ...options, realm: undefined, realms: ['B.TEST'] }),
    ).toBe('realm_refused');
    expect(
      judgePrincipal({ ...options, realm: undefined, realms: ['A.TEST'] }),
    ).toBeUndefined();
  });

  it('refuses a ticket for another service of the host', () => {
    for (const other of ['nfs/portal@A.TEST', 'host/HTTP/x@A.TEST', 'HTTP@A']) {
      expect(
        judgePrincipal({
          principal: 'a@A.TEST',
          service: other,
          realm: 'A.TEST',
          realms: [],
        }),
      ).toBe('unknown_service_key');
    }
    expect(
      judgePrincipal({
        principal: 'a@A.TEST',
        service: 'http/portal@A.TEST',
        realm: 'A.TEST',
        realms: [],
      }),
    ).toBeUndefined();
  });
});
