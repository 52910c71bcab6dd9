import fc from 'fast-check';
import { isUserName } from '@directory-gateway/directory-core';
import { childOf, isBelow, trustedDn, rdnValueOf } from './DistinguishedName';

const users = trustedDn('cn=users,cn=accounts,dc=example,dc=test');

describe('childOf', () => {
  it('does not escape a plain name', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,30}\$?$/),
        name => {
          expect(isUserName(name)).toBe(true);
          expect(childOf(users, { attribute: 'uid', value: name })).toBe(
            `uid=${name},${users}`,
          );
        },
      ),
    );
  });

  it.each([
    ['a,b', 'cn=a\\,b'],
    ['a+b=c', 'cn=a\\+b\\=c'],
    ['"x"', 'cn=\\"x\\"'],
    ['a\\b', 'cn=a\\\\b'],
  ])('escapes %j', (value, rdn) => {
    expect(childOf(users, { attribute: 'cn', value })).toBe(`${rdn},${users}`);
  });
});

describe('isBelow', () => {
  it('ignores case and compares only whole components', () => {
    expect(isBelow(`uid=x,${users.toUpperCase()}`, users)).toBe(true);
    expect(isBelow(users, users)).toBe(false);
    expect(isBelow(`uid=x,ou=x${users}`, users)).toBe(false);
  });
});

it.each([
  ['cn=trust admins,cn=groups', 'trust admins'],
  ['uid=alice+cn=Alice,cn=users', 'alice'],
  ['cn=a\\2bb\\,c,cn=groups', 'a+b,c'],
  ['cn=a\\+b,cn=groups', 'a+b'],
])('rdnValueOf(%s) returns %s', (dn, value) => {
  expect(rdnValueOf(dn)).toBe(value);
});
